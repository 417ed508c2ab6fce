import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Failure } from '../../core/failure.ts';

type SuperviseOptions = import('../../server/workers/supervisor.ts').SuperviseOptions;
type RunningServer = import('../../server/serve.ts').RunningServer;
type WorkerSettings = import('./workerprocess.ts').WorkerSettings;

/** Starts a server of several processes. Rejects with the Failure of the process that cannot start. */
export async function serveTogether(
  options: Omit<SuperviseOptions, 'fork' | 'settings'>,
  settings: Omit<WorkerSettings, 'options'>,
): Promise<RunningServer> {
  const { supervise } = await import('../../server/workers/supervisor.ts');
  const { log: _log, workers: _workers, ...plain } = options;
  try {
    return await supervise({
      ...options,
      fork: () => fork(fileURLToPath(new URL('./workerprocess.js', import.meta.url)), { execArgv: [] }),
      settings: ({ data }) => ({ ...settings, options: { ...plain, data } }),
    });
  } catch (error) {
    // It was a Failure in the other process.
    if (error instanceof Error && error.name === 'Failure') throw new Failure(error.message, error as Failure);
    throw error;
  }
}
