import type { PlannedUpload } from '../../../../src/core/documents/uploads/plan.ts';
import { StoredDocuments } from '../../../../src/core/documents/uploads/stored.ts';
import { UploadJournal } from '../../../../src/core/documents/uploads/uploadjournal.ts';
import type { UploadRow } from '../../../../src/core/documents/uploads/uploadrow.ts';
import { uploadAll } from '../../../../src/core/documents/uploads/uploadrun.ts';
import { type FakeServer, sha256 } from '../fakeserver.ts';
import { memorySource } from '../samples.ts';

/** A file that passed the checks. */
export type ReadyFile = Extract<PlannedUpload, { readonly kind: 'ready' }>;

/** A file of patient 5, as the checks leave it. */
export function ready(file: string, content: string, more: Partial<UploadRow> = {}): ReadyFile {
  const row: UploadRow = { file, tags: [], patient: '5', ...more };
  const name = (more.name ?? file).replace('.pdf', '');
  const bytes = Buffer.from(content);
  return {
    kind: 'ready',
    row,
    upload: {
      row,
      source: memorySource(file, bytes),
      sha256: sha256(bytes),
      fields: {
        name,
        mimeType: 'PDF',
        ownerPatient: { id: Number(row.patient) },
        ...(row.tags.length > 0 && { tags: row.tags }),
        file: {},
      },
      owner: { field: 'ownerPatient', id: String(row.patient) },
      storedName: `${name}.pdf`,
    },
  };
}

/** A journal that knows of nothing that went before, and is lost with the run. */
export const forgetful = () => new UploadJournal(undefined, async () => undefined);

/** Uploads a plan to a server, one file at a time unless told otherwise. */
export async function run(
  server: FakeServer,
  plan: readonly PlannedUpload[],
  options: { concurrency?: number; signal?: AbortSignal; journal?: UploadJournal } = {},
) {
  const client = server.client();
  const fetching = { ...server.fetching(), ...(options.signal && { signal: options.signal }) };
  const uploading = {
    client,
    stored: new StoredDocuments(client, fetching),
    journal: options.journal ?? forgetful(),
    ...(options.signal && { signal: options.signal }),
  };
  const settled: number[] = [];
  const onSettled = async (index: number) => void settled.push(index);
  const results = await uploadAll(plan, uploading, { concurrency: options.concurrency ?? 1, onSettled });
  return { outcomes: results.map(({ outcome }) => outcome), results, settled };
}

/** Names and contents of what a server holds. */
export const holds = (server: FakeServer) => server.stored.map(({ name, content }) => `${name}: ${content}`);
