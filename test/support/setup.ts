import type { TestProject } from 'vitest/node';
import { openRunDatabases } from './rundatabases.ts';
import { openRunFolder, removeDeadRuns } from './runfolder.ts';
import { TEST_POSTGRES } from './services.ts';

/**
 * What vitest does once for a run: tests and the programs that they start get a temporary folder of the run's own, and
 * what runs that were killed have left is removed.
 */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  // The groups of tests inherit the setting that names this file.
  if (!project.isRootProject()) return undefined;
  await removeDeadRuns();
  // vitest chose folders for itself before anything could tell it where.
  const folder = await openRunFolder([project, ...project.vitest.projects].map(({ tmpDir }) => tmpDir));
  // By these names os.tmpdir() finds it: by the first elsewhere, by the others on Windows.
  Object.assign(process.env, { TMPDIR: folder.path, TEMP: folder.path, TMP: folder.path, MOLAR_TEST_RUN: folder.run });
  const closeDatabases = await openRunDatabases(TEST_POSTGRES, folder.run);
  return async () => {
    await closeDatabases();
    await folder.remove();
  };
}
