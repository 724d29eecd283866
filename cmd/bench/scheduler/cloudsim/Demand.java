/**
 * The CPU demand of VMs over the day, in integers alone, so that another language computes the
 * same to the last digit. All divisions are of numbers that are not negative.
 *
 * <pre>
 * hash(vm, salt)                   64 bits, unsigned; both are 0 or more; overflow wraps
 *   z = vm * 0x9E3779B97F4A7C15 + (salt + 1) * 0xD1B54A32D192ED03
 *   z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9
 *   z = (z ^ z >>> 27) * 0x94D049BB133111EB
 *   hash = (z ^ z >>> 31) >>> 33     31 bits
 *
 * the VM, in parts of a million and in seconds
 *   low  =  50000 + hash(vm, 0) % 100000    least of the day curve,   5 to 15 %
 *   high = 250000 + hash(vm, 1) % 500000    most of the day curve,   25 to 75 %
 *   peak =  43200 + hash(vm, 2) % 14400     when it has most, 12:00 to 16:00
 *
 * demand(vm, t)                    t is seconds since midnight of the first day
 *   s     = t - t % hold             a demand is held for this time
 *   far   = |s % 86400 - peak|       seconds from the peak,
 *   far   = min(far, 86400 - far)      over midnight where that is shorter
 *   q     = (43200 - far) * 1000 / 43200        0 opposite the peak, 1000 at it
 *   curve = low + (high - low) * (q * q * (3000 - 2 * q) / 1000000) / 1000
 *   noise = hash(vm, 3 + s / hold) % 100001 - 50000           -5 to +5 %
 *   demand = min(max(curve + noise, 0), 1000000) / 100 * 100
 * </pre>
 *
 * The demand is the share, in parts of a million, of all vCPUs of the VM together. It is a whole
 * number of hundredths of a percent, in which homenode counts.
 */
final class Demand {
    private static final int DAY = 86_400;

    private final long vm;
    private final long low;
    private final long high;
    private final long peak;
    private final long hold;
    // What is held, and the number of the hold that it is for. CloudSim Plus asks some times a step.
    private long held;
    private long heldFor = -1;

    /** The demand of the VM with this number, from 0, which changes each hold seconds. */
    Demand(final long vm, final long hold) {
        this.vm = vm;
        this.hold = hold;
        low = 50_000 + hash(0) % 100_000;
        high = 250_000 + hash(1) % 500_000;
        peak = 43_200 + hash(2) % 14_400;
    }

    /** The demand at this second in parts of a million. */
    long at(final long second) {
        if (second / hold != heldFor) {
            heldFor = second / hold;
            held = demand(heldFor * hold);
        }
        return held;
    }

    private long demand(final long s) {
        long far = Math.abs(s % DAY - peak);
        far = Math.min(far, DAY - far);
        final long q = (DAY / 2 - far) * 1000 / (DAY / 2);
        final long curve = low + (high - low) * (q * q * (3000 - 2 * q) / 1_000_000) / 1000;
        final long noise = hash(3 + s / hold) % 100_001 - 50_000;
        return Math.min(Math.max(curve + noise, 0), 1_000_000) / 100 * 100;
    }

    private long hash(final long salt) {
        long z = vm * 0x9E3779B97F4A7C15L + (salt + 1) * 0xD1B54A32D192ED03L;
        z = (z ^ z >>> 30) * 0xBF58476D1CE4E5B9L;
        z = (z ^ z >>> 27) * 0x94D049BB133111EBL;
        return (z ^ z >>> 31) >>> 33;
    }
}
