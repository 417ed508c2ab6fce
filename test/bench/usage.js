// Loaded before molar by a measurement: writes the seconds of processor time that the process took, with all its threads.
import { writeFileSync } from 'node:fs';

process.once('exit', () => {
  const { user, system } = process.cpuUsage();
  writeFileSync(process.env.MOLAR_BENCH_USAGE, String((user + system) / 1e6));
});
