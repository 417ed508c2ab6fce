import { seeded } from '../../support/faults/seeded.ts';
import {
  type Change,
  Content,
  concerns,
  type Disk,
  type FileNode,
  FolderNode,
  type Naming,
  type Node,
  set,
} from './disk.ts';
import type { FileContent, Tree } from './trees.ts';

/** What a power cut can leave of what was not synced. */
export const LEAVINGS = [
  /** Nothing. */
  'nothing',
  /** All of it. */
  'everything',
  /** Names, but no bytes of their files. */
  'names',
  /** Names and sizes, with zeros for bytes. */
  'zeros',
  /** Names and sizes, and of each file the first write, with zeros for the others. */
  'heads',
  /** Bytes of files whose names there are. */
  'bytes',
  /** Of each folder the first changes, of each file some writes, some in part. */
  'some',
] as const;

export type Leaving = (typeof LEAVINGS)[number];

/** Bytes that a disk writes all or none of. */
const SECTOR = 512;

/** What is on a disk when it gets its power back. `chance`: random numbers, which only `some` takes. */
export function treeAfterCut(disk: Disk, leaving: Leaving, chance: () => number): Tree {
  const names = namesAfterCut(disk, leaving, chance);
  const contents = new Map<FileNode, FileContent>();
  const treeOf = (folder: FolderNode): Tree =>
    new Map(
      [...(names.get(folder) ?? folder.durable)]
        // Shared memory of SQLite, which it makes anew.
        .filter(([name]) => !name.endsWith('-shm'))
        .map(([name, node]) => [name, node instanceof FolderNode ? treeOf(node) : contentOf(node)] as const),
    );
  const contentOf = (node: FileNode) => {
    const content = contents.get(node) ?? { bytes: bytesAfterCut(node, leaving, chance) };
    contents.set(node, content);
    return content;
  };
  return treeOf(disk.root);
}

function namesAfterCut(disk: Disk, leaving: Leaving, chance: () => number): Map<FolderNode, Map<string, Node>> {
  const names = new Map<FolderNode, Map<string, Node>>();
  if (leaving === 'nothing' || leaving === 'bytes') return names;
  const lost = new Set<Naming>();
  for (const naming of disk.names) {
    const folders = naming.parts.map(({ folder }) => folder);
    const isBlocked = [...lost].some((each) =>
      folders.some((folder) => concerns(each, folder) || folder.birth === each),
    );
    if (isBlocked || (leaving === 'some' && chance() < 0.3)) {
      lost.add(naming);
      continue;
    }
    for (const { folder, name, node } of naming.parts) {
      const now = names.get(folder) ?? new Map(folder.durable);
      set(now, name, node);
      names.set(folder, now);
    }
  }
  return names;
}

function bytesAfterCut({ durable, current, pending }: FileNode, leaving: Leaving, chance: () => number): Buffer {
  if (leaving === 'nothing' || leaving === 'names' || pending.length === 0) return durable.bytes();
  if (leaving === 'everything' || leaving === 'bytes') return current.bytes();
  const content = new Content(durable.bytes());
  const [first] = pending;
  if (leaving === 'heads' && first !== undefined) content.take(first);
  if (leaving === 'heads' || leaving === 'zeros' || chance() < 0.2) {
    if (current.size > content.size) content.take({ time: 0, at: current.size });
    return content.bytes();
  }
  for (const change of pending) for (const part of partsAfterCut(change, chance)) content.take(part);
  return content.bytes();
}

/** Nothing of a write, all of it, or its first sectors. */
function partsAfterCut(change: Change, chance: () => number): Change[] {
  const dice = chance();
  if (dice < 0.3) return [];
  if (dice < 0.7 || change.bytes === undefined) return [change];
  const first = SECTOR - (change.at % SECTOR);
  const sectors = Math.floor(chance() * (1 + change.bytes.length / SECTOR));
  return [{ ...change, bytes: change.bytes.subarray(0, sectors === 0 ? 0 : first + (sectors - 1) * SECTOR) }];
}

/** Random numbers below one for a cut, the same for the same seed. */
export function chanceOf(seed: number, cut: number): () => number {
  return seeded(seed * 1_000_003 + cut);
}
