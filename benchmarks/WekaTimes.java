// Seconds of fits of Weka's J48 with its defaults, timed inside a virtual machine that is warm, and what the tree says.
// usage: java -cp weka.jar WekaTimes.java TABLE.arff FITS
// Prints JSON: the seconds of each fit, the leaves and nodes of the tree, and the class that it gives to each row.

import java.io.BufferedReader;
import java.io.FileReader;
import weka.classifiers.trees.J48;
import weka.core.Instances;

public class WekaTimes {
    public static void main(String[] arguments) throws Exception {
        Instances table;
        try (BufferedReader file = new BufferedReader(new FileReader(arguments[0]))) {
            table = new Instances(file);
        }
        table.setClassIndex(table.numAttributes() - 1);
        StringBuilder seconds = new StringBuilder();
        J48 tree = null;
        for (int k = 0; k < Integer.parseInt(arguments[1]); k++) {
            tree = new J48();
            long began = System.nanoTime();
            tree.buildClassifier(table);
            seconds.append(k == 0 ? "" : ", ").append((System.nanoTime() - began) / 1e9);
        }
        StringBuilder labels = new StringBuilder();
        for (int row = 0; row < table.numInstances(); row++) {
            labels.append(row == 0 ? "" : ", ").append((int) tree.classifyInstance(table.instance(row)));
        }
        System.out.printf("{\"seconds\": [%s], \"leaves\": %d, \"nodes\": %d, \"labels\": [%s]}%n",
            seconds, (int) tree.measureNumLeaves(), (int) tree.measureTreeSize(), labels);
    }
}
