import { EXIT } from '../../catalog/failures.ts';
import { countText } from '../../core/count.ts';
import { Failure } from '../../core/failure.ts';
import { type FilesOutcome, keepFiles } from '../../core/mirror/files/documentfiles.ts';
import type { MirrorStore } from '../../core/mirror/store.ts';
import type { SyncOutcome } from '../../core/mirror/sync/syncrun.ts';
import type { ApiClient } from '../../core/transport/client.ts';
import type { Connections } from '../connections.ts';
import type { Context } from '../context.ts';
import { linkFetching } from '../documents/linkfetching.ts';
import { lockOwner } from '../process/lockowner.ts';
import { byteCollector } from '../process/memory.ts';
import { ByteProgress } from '../terminal/progress.ts';

/** Failures that are named one by one. */
const MAX_NAMED = 100;

/** What it takes to keep the contents of documents beside a mirror. */
interface Keeping {
  readonly store: MirrorStore;
  readonly client: ApiClient;
  readonly connections: Connections;
  readonly context: Context;
  readonly isQuiet: boolean;
}

/** Keeps the contents of documents after a sync (D52); does nothing where documents are not whole, or nobody asked for it. */
export async function keepContents(
  { store, client, connections, context, isQuiet }: Keeping,
  { resources }: SyncOutcome,
): Promise<FilesOutcome | undefined> {
  const folder = store.facts.files ?? undefined;
  const documents = resources.find(({ table }) => table.name === 'documents');
  if (folder === undefined || !documents?.complete) return undefined;
  const progress = new ByteProgress(context, { doing: 'Downloaded', files: undefined, quiet: isQuiet });
  const collect = byteCollector();
  const onBytes = (bytes: number) => {
    progress.onBytes(bytes);
    collect(bytes);
  };
  const fetching = await linkFetching(connections, context);
  const downloading = { client, fetching, variant: 'original' as const, onBytes };
  try {
    return await keepFiles({ folder, store, downloading, owner: lockOwner(context.clock) });
  } finally {
    await progress.stop();
  }
}

/** That some files are not there (exit 6), and the next sync tries again; undefined where all are. */
export function filesFailure(outcome: FilesOutcome | undefined): Failure | undefined {
  const [first, ...others] = outcome?.failures ?? [];
  if (first === undefined) return undefined;
  const count = others.length + 1;
  const what =
    others.length === 0 ? `The file of document ${first.id} is` : `The files of ${countText(count)} documents are`;
  return new Failure(`${what} not up to date. ${first.failure.message}`, {
    ...{ code: 'run.partial', exitCode: EXIT.partial, cause: first.failure },
    hint: 'Run it again: it goes on with what is missing.',
    items: [first, ...others].slice(0, MAX_NAMED).map(({ id, failure: { code, message } }) => {
      return { code, source: id, description: message };
    }),
  });
}
