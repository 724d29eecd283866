import ch.qos.logback.classic.Level;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.cloudsimplus.allocationpolicies.VmAllocationPolicyRoundRobin;
import org.cloudsimplus.brokers.DatacenterBroker;
import org.cloudsimplus.brokers.DatacenterBrokerSimple;
import org.cloudsimplus.cloudlets.Cloudlet;
import org.cloudsimplus.cloudlets.CloudletSimple;
import org.cloudsimplus.core.CloudSimPlus;
import org.cloudsimplus.datacenters.DatacenterSimple;
import org.cloudsimplus.hosts.Host;
import org.cloudsimplus.hosts.HostSimple;
import org.cloudsimplus.resources.Pe;
import org.cloudsimplus.resources.PeSimple;
import org.cloudsimplus.schedulers.cloudlet.CloudletSchedulerTimeShared;
import org.cloudsimplus.schedulers.vm.VmSchedulerTimeShared;
import org.cloudsimplus.util.Log;
import org.cloudsimplus.utilizationmodels.UtilizationModel;
import org.cloudsimplus.utilizationmodels.UtilizationModelAbstract;
import org.cloudsimplus.vms.Vm;
import org.cloudsimplus.vms.VmSimple;

/**
 * Lets CloudSim Plus simulate hosts with VMs whose CPU demand changes over the day, and prints
 * how long that took as one line of JSON for each round.
 *
 * <p>VM number v runs on host v % hosts. Each VM has one cloudlet on all its vCPUs that outlasts
 * the run, whose demand is that of {@link Demand}; memory, storage and network are given to the
 * VMs once and then not used. Utilisation of every host is asked for at each step, at 1, 2, 3, … times
 * the interval, with the demand that the step began with; CloudSim Plus takes them a tenth of a second later. A run whose steps, placement
 * or mean utilisation are not what the demand asks for ends the program.
 */
public final class CloudSimBench {
    private static final double MIPS = 1000; // of a core and of a vCPU
    private static final long GB = 1024; // in the MB that CloudSim Plus counts memory in

    private int hosts = 100;
    private int vms = 1000;
    private int cores = 64;
    private int vcpus = 4;
    private int seconds = 86_400;
    private int interval = 300;
    private int hold = 300;
    private int rounds = 1;

    private CloudSimBench() {}

    public static void main(final String[] args) throws IOException {
        final var bench = new CloudSimBench();
        try {
            bench.read(args);
        } catch (final IllegalArgumentException e) {
            System.err.println("cloudsimbench: " + e.getMessage());
            System.exit(2);
        }
        Log.setLevel(Level.OFF);
        for (int round = 1; round <= bench.rounds; round++) {
            System.out.println(bench.new Run().line(round));
        }
    }

    /** Reads -name value pairs. */
    private void read(final String[] args) {
        for (int i = 0; i < args.length; i += 2) {
            if (i + 1 == args.length) {
                throw new IllegalArgumentException(args[i] + ": found the end, want a value");
            }
            final int value = positive(args[i], args[i + 1]);
            switch (args[i]) {
                case "-hosts" -> hosts = value;
                case "-vms" -> vms = value;
                case "-cores" -> cores = value;
                case "-vcpus" -> vcpus = value;
                case "-seconds" -> seconds = value;
                case "-interval" -> interval = value;
                case "-hold" -> hold = value;
                case "-rounds" -> rounds = value;
                default -> throw new IllegalArgumentException("found " + args[i]
                    + ", want -hosts, -vms, -cores, -vcpus, -seconds, -interval, -hold or -rounds");
            }
        }
        final long perHost = (vms + hosts - 1L) / hosts;
        if (perHost * vcpus > cores) {
            throw new IllegalArgumentException(perHost + " VMs of " + vcpus + " vCPUs do not fit on " + cores
                + " cores: CloudSim Plus does not share a core among vCPUs that want all of it");
        }
        if (seconds % interval != 0) {
            throw new IllegalArgumentException("-seconds " + seconds + " is no multiple of -interval " + interval);
        }
    }

    private static int positive(final String name, final String text) {
        try {
            final int n = Integer.parseInt(text);
            if (n > 0) {
                return n;
            }
        } catch (final NumberFormatException e) {
            // It is no number: the same message.
        }
        throw new IllegalArgumentException(name + ": found \"" + text + "\", want a positive whole number");
    }

    /** One simulation. */
    private final class Run {
        private final CloudSimPlus simulation = new CloudSimPlus();
        private final List<Host> hostList = new ArrayList<>(hosts);
        private final List<Vm> vmList = new ArrayList<>(vms);
        private final List<Demand> demands = new ArrayList<>(vms);
        private double utilisation; // of all hosts at all steps, added up
        private long samples; // of them
        private long started; // when the last VM and cloudlet had arrived, in System.nanoTime
        private long ended; // when the last host had taken the last step

        /** Builds the hosts and VMs, simulates and returns the line of JSON. */
        String line(final int round) throws IOException {
            final long begun = System.nanoTime();
            final DatacenterBroker broker = build();
            simulation.addOnEventProcessingListener(event -> {
                if (event.getTime() < interval) {
                    started = System.nanoTime();
                }
            });
            simulation.terminateAt(seconds);
            simulation.start();
            check(broker);
            final double wall = (ended - started) / 1e9;
            final long steps = samples / hosts;
            return String.format(Locale.ROOT,
                "{\"simulator\":\"%s\",\"java\":\"%s\",\"round\":%d,\"hosts\":%d,\"vms\":%d,\"cores\":%d,\"vcpus\":%d,"
                    + "\"simulated_seconds\":%d,\"interval_seconds\":%d,\"hold_seconds\":%d,\"steps\":%d,\"setup_seconds\":%.3f,"
                    + "\"wall_seconds\":%.6f,\"vm_updates\":%d,\"vm_updates_per_second\":%.0f,"
                    + "\"mean_host_utilisation\":%.12f,\"mean_demand\":%.12f,\"peak_rss_bytes\":%d}",
                simulator(), System.getProperty("java.version"), round, hosts, vms, cores, vcpus,
                seconds, interval, hold, steps, (started - begun) / 1e9,
                wall, steps * vms, steps * vms / wall,
                utilisation / samples, meanDemand(), peakMemory());
        }

        private DatacenterBroker build() {
            for (int h = 0; h < hosts; h++) {
                final List<Pe> pes = new ArrayList<>(cores);
                for (int c = 0; c < cores; c++) {
                    pes.add(new PeSimple(MIPS));
                }
                final Host host = new HostSimple(cores * 4 * GB, cores * 1000L, cores * 1000L, pes);
                host.setVmScheduler(new VmSchedulerTimeShared());
                host.addOnUpdateProcessingListener(info -> sample(info.getHost(), info.getTime()));
                hostList.add(host);
            }
            final var datacenter = new DatacenterSimple(simulation, hostList, new VmAllocationPolicyRoundRobin());
            datacenter.setSchedulingInterval(interval).disableMigrations();
            final var broker = new DatacenterBrokerSimple(simulation);
            final List<Cloudlet> cloudlets = new ArrayList<>(vms);
            for (int v = 0; v < vms; v++) {
                final Vm vm = new VmSimple(v, MIPS, vcpus);
                vm.setRam(vcpus * 4 * GB).setBw(1000).setSize(1000);
                vm.setCloudletScheduler(new CloudletSchedulerTimeShared());
                vmList.add(vm);
                demands.add(new Demand(v, hold));
                cloudlets.add(cloudlet(vm, demands.get(v)));
            }
            broker.submitVmList(vmList);
            broker.submitCloudletList(cloudlets);
            return broker;
        }

        private Cloudlet cloudlet(final Vm vm, final Demand demand) {
            // Twice the work that the VM can do in this time. The library's own "without end",
            // a negative length, makes it take a step every 0.11 seconds.
            final long length = 2 * (long) MIPS * (seconds + (long) interval);
            final Cloudlet cloudlet = new CloudletSimple(length, vcpus);
            final var cpu = new UtilizationModelAbstract() {
                @Override
                protected double getUtilizationInternal(final double time) {
                    return demand.at(Math.max((long) time - interval, 0)) / 1e6; // that with which the step began
                }
            };
            cloudlet.setUtilizationModelCpu(cpu);
            cloudlet.setUtilizationModelRam(UtilizationModel.NULL);
            cloudlet.setUtilizationModelBw(UtilizationModel.NULL);
            cloudlet.setVm(vm);
            return cloudlet;
        }

        /** Takes the utilisation of a host after CloudSim Plus has updated its VMs. */
        private void sample(final Host host, final double time) {
            if (time > seconds + 1) { // CloudSim Plus takes some steps more before it stops
                return;
            }
            utilisation += host.getCpuMipsUtilization() / (cores * MIPS);
            samples++;
            ended = System.nanoTime();
        }

        /** Throws when the run was not what is asked for. */
        private void check(final DatacenterBroker broker) {
            final long steps = seconds / interval;
            if (samples != steps * hosts) {
                throw new IllegalStateException("found " + samples + " updates of hosts, want " + steps * hosts);
            }
            if (broker.getVmFailedList().size() > 0) {
                throw new IllegalStateException(broker.getVmFailedList().size() + " VMs found no host");
            }
            for (int v = 0; v < vms; v++) {
                if (vmList.get(v).getHost() != hostList.get(v % hosts)) {
                    throw new IllegalStateException("VM " + v + " is on " + vmList.get(v).getHost() + ", want host " + v % hosts);
                }
            }
            final double difference = Math.abs(utilisation / samples - meanDemand());
            if (!(difference < 1e-9)) {
                throw new IllegalStateException("the mean utilisation " + utilisation / samples
                    + " is not the mean demand " + meanDemand());
            }
        }

        /** The mean utilisation of hosts that follows from the demand alone. */
        private double meanDemand() {
            long sum = 0;
            for (final Demand demand : demands) {
                for (long t = 0; t < seconds; t += interval) {
                    sum += demand.at(t);
                }
            }
            return sum * (double) vcpus / 1e6 / ((double) (seconds / interval) * hosts * cores);
        }
    }

    /** The file name of the library without its ending: its name and version. */
    private static String simulator() {
        final String file = CloudSimPlus.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        return file.substring(file.lastIndexOf('/') + 1).replace(".jar", "");
    }

    /** The largest resident memory of this process so far in bytes; 0 where Linux does not tell. */
    private static long peakMemory() throws IOException {
        final Path status = Path.of("/proc/self/status");
        if (!Files.exists(status)) {
            return 0;
        }
        for (final String line : Files.readAllLines(status)) {
            if (line.startsWith("VmHWM:")) {
                return Long.parseLong(line.replaceAll("[^0-9]", "")) * 1024;
            }
        }
        return 0;
    }
}
