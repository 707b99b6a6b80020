"""What `--help` prints: a page for each command, which fits on a screen of 24 lines of 80 signs."""

_FILES = """\
FILE is .csv or other text (also compressed by gzip; - is standard input), or
.parquet, .arrow, .feather (these need pyarrow). How text is written:
  --sep SIGN        between cells; guessed among , ; | and tab
  --encoding NAME   such as latin-1 (default: UTF-8, or UTF-16 if it says so)
  --missing TEXT    a cell without a value, beside NA and the like; repeatable
  --decimal , --thousands .   how numbers are written      --no-header
"""

HELP = {
    "dtnumba": """\
usage: dtnumba COMMAND ...

Decision trees on NumPy and Numba.

  train    learn from a table, score on rows held out, show and save the model
  predict  answers of a saved model for the rows of a table
  show     what a saved model says
  info     what a saved model is
  convert  a saved model in another format
  warmup   compile ahead what learners need

dtnumba COMMAND --help lists what can be given; dtnumba --version says what is
installed. The exit code is 0, or 1 where a file or a model cannot be used, 2
where the command cannot be, 130 after Ctrl-C.
""",
    "dtnumba train": f"""\
usage: dtnumba train [FILE] [--target NAME] [--model NAME] [--out MODEL] ...
Learn from a table (without FILE a generated one), score on rows held out.
  --target NAME     column to predict (default: the last)
  --task WHAT       class, regression or auto: by the target's values
  --model NAME      tree (default), forest, extra_tree, extra_trees, id3, c45,
                    c50, chaid, mars, rules, list, or a class of dtnumba by name
  --set NAME=VALUE  a parameter of the model, such as --set max_depth=5
  --out MODEL       save the model, then learned from all rows
  --category NAME, --number NAME, --ignore NAME
                    take a column for that, or leave it out; repeatable
  --test-fraction SHARE  held out (0.25)      --seed N  of what is drawn (0)
  --max-depth N, --min-samples-leaf N, --max-bins N, --criterion NAME,
  --splitter NAME   the same as --set
{_FILES}""",
    "dtnumba predict": f"""\
usage: dtnumba predict MODEL FILE [--out OUT] [--proba] ...

Answers of a saved model for the rows of a table, as CSV on standard output.
Columns are found by name, whatever their order.

  --out OUT         write to a file instead, whole or not at all
  --proba           a column of shares for each class instead of labels

{_FILES}""",
    "dtnumba show": """\
usage: dtnumba show MODEL [--levels N] [--html OUT]

What a saved model says: the top of its tree, or of its first tree; its rules.

  --levels N        levels below the root (default: 3)
  --html OUT        write a page to fold, search and walk through instead
""",
    "dtnumba info": """\
usage: dtnumba info MODEL

What a saved model is: its learner, parameters, columns, classes and size.
""",
    "dtnumba convert": """\
usage: dtnumba convert MODEL --to FORMAT [--out OUT] [--set NAME=VALUE]

A saved model in another format, on standard output. A model that the format
cannot say exactly is an error.

  --to FORMAT       c, dnf, dot, json, network, onnx, python, rules, sql, text
                    or treelite
  --out OUT         write to a file instead, whole or not at all
  --set NAME=VALUE  an option of that function, such as --set class=LABEL of
                    dnf; repeatable
""",
    "dtnumba warmup": """\
usage: dtnumba warmup [NAME ...] [--jobs N] [--check]

Compile ahead what fits and predictions of learners need, in processes side by
side. NAME is a learner, such as RandomForestClassifier (default: all).

  --jobs N          processes side by side (default: one a core)
  --check           compile nothing; exit with 1 if a first fit would
  --portable LEVEL  compile for any processor of a level: x86-64-v3 or
                    x86-64-v4; elsewhere for that of this machine. Other
                    machines load it by DTNUMBA_KERNELS=FOLDER
  --out FOLDER      where portable kernels are written
""",
}
