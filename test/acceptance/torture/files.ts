import { sha256 } from './contents.ts';
import { type Evidence, filesIn } from './evidence.ts';
import type { Content } from './operation.ts';
import { type Connections, dataOf } from './request.ts';

/** What is wrong with the files of a folder: each belongs to a document, and each document has its own. */
export function compareFiles(evidence: Evidence, folder: string, shared: boolean): string[] {
  const { kept, staged } = filesIn(folder);
  const named = new Set(
    evidence.documents.flatMap(({ guid, variants }) => variants.split(',').map((variant) => `${guid}-${variant}`)),
  );
  const orphans = kept.filter((name) => !named.has(name)).map((name) => `the file ${name} belongs to no document`);
  // On storage that servers share nobody knows whether another one is staging: they are left for a day, and are read where they are.
  const present = new Set(shared ? [...kept, ...staged] : kept);
  const left = shared ? [] : staged.map((name) => `the file ${name} is still staged`);
  const missing = [...named].filter((name) => !present.has(name)).map((name) => `the file ${name} is missing`);
  const removals = evidence.removals > 0 ? [`${evidence.removals} files are still to be removed`] : [];
  return [...orphans, ...left, ...missing, ...removals];
}

/** What is wrong with the files of a document as its links give them. */
export async function compareContent(connections: Connections, id: number, content: Content): Promise<string[]> {
  const answer = await connections.send({ method: 'GET', path: `/documents/${id}` });
  if (answer?.status !== 200) return [`document ${id} was answered ${answer?.status}`];
  const { storage } = dataOf(answer) as { storage: Readonly<Record<string, string | null>> };
  const links = Object.entries(storage).filter((entry): entry is [string, string] => entry[1] !== null);
  const found = await Promise.all(
    links.map(async ([variant, link]) => {
      const { status, bytes } = await connections.download(link);
      return [variant, status === 200 ? sha256(bytes) : String(status)] as const;
    }),
  );
  const [is, should] = [found, Object.entries(content)].map((pairs) => JSON.stringify(pairs.toSorted()));
  return is === should ? [] : [`document ${id} has the files ${is}, not ${should}`];
}

/** SHA-256 of the files of a document, by variant. */
export async function contentOf(
  connections: Connections,
  storage: Readonly<Record<string, string | null>>,
): Promise<Content> {
  const content: Record<string, string> = {};
  for (const [variant, link] of Object.entries(storage)) {
    if (link !== null) content[variant] = sha256((await connections.download(link)).bytes);
  }
  return content;
}
