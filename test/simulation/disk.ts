import { fstatSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, type Stats, writeFileSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname, extname, join, relative, sep } from 'node:path';
import { system } from '../../src/filesystem/system.ts';
import { Draws } from '../faithful/random.ts';

/** A file or folder: what of it was synced, and so outlasts a power cut. */
interface Node {
  readonly isFolder: boolean;
  readonly mode: number;
  bytes: Buffer;
  names: ReadonlyMap<string, Node>;
  /** The number of the last sync whose content this is: of two at once the later may end first. */
  sync: number;
}

/** A file or folder as it is. */
interface Found {
  readonly path: string;
  readonly bytes: Buffer;
  readonly names: ReadonlyMap<string, Node>;
}

/** A rename from one folder to another that may be lost. */
interface Move {
  readonly from: Node;
  readonly to: Node;
  /** Makes it last in both folders. */
  readonly commit: () => void;
}

/** What a power cut leaves, by path: the bytes of a file; none of a folder. */
export type Left = ReadonlyMap<string, { readonly mode: number; readonly bytes?: Buffer }>;

const SQLITE_FILE = /\.(db|sqlite)(-wal|-shm|-journal)?$/;

/** The id of no process: Linux gives none this high. */
const NOBODY = 2 ** 22 + 1;

/**
 * The disks of a day: watches what molar syncs, and tells what would be left of a folder if power were cut now. Bytes last
 * once their file was synced, names once their folder was; of the rest anything may be there. SQLite syncs for itself,
 * unseen: of its files everything is left.
 */
export class Disks {
  /** By number of the inode, until that is another file's. */
  private readonly nodes = new Map<number, Node>();
  /** Renames from one folder to another, which are lost in both or in neither. */
  private moves: Move[] = [];
  private syncs = 0;

  /** Watches until what it answers is called. Whose machine asks, and how often that was started, is told by `boot`. */
  watch(boot: () => string): () => void {
    const before = { ...system };
    const synced = async (fd: number, sync: () => Promise<void>) => {
      const last = this.seen(fd);
      await sync();
      last();
    };
    /** Notes which files are no more once a path is gone; what it answers forgets them. */
    const leaving = (path: string) => {
      const numbers = numbersIn(path);
      return () => {
        for (const number of numbers) this.nodes.delete(number);
      };
    };
    const removed = async (path: string, remove: () => Promise<void>) => {
      const forget = leaving(path);
      await remove();
      forget();
    };
    Object.assign(system, {
      bootId: boot,
      sync: (file: FileHandle) => synced(file.fd, () => before.sync(file)),
      datasync: (file: FileHandle) => synced(file.fd, () => before.datasync(file)),
      fsync: (fd: number) => synced(fd, () => before.fsync(fd)),
      rename: async (from: string, to: string) => {
        await removed(to, () => before.rename(from, to));
        if (dirname(from) !== dirname(to)) this.moved(from, to);
      },
      unlink: (path: string) => removed(path, () => before.unlink(path)),
      rmdir: (path: string) => removed(path, () => before.rmdir(path)),
      rm: (path: string, options: object) => removed(path, () => before.rm(path, options)),
      unlinkSync: (path: string) => {
        const forget = leaving(path);
        before.unlinkSync(path);
        forget();
      },
    });
    return () => void Object.assign(system, before);
  }

  /** A folder, and everything in it, lasts from now on, as what was put there long ago. */
  settle(folder: string): void {
    const found = new Map<Node, Found>();
    this.find(folder, found);
    for (const [each, { bytes, names }] of found) Object.assign(each, { bytes, names });
    this.moves = this.moves.filter(({ from, to }) => !found.has(from) && !found.has(to));
    this.anchor(folder);
  }

  /** What a power cut at this moment leaves of a folder. */
  afterCut(folder: string, draws: Draws): Left {
    const found = new Map<Node, Found>();
    const root = this.find(folder, found);
    const cut = String(draws.fraction());
    // Not one draw after another: names of documents are random, and so is the order in which they are found.
    const drawsOf = (path: string, what = '') => {
      const [top] = relative(folder, path).split(sep);
      return new Draws(`${cut} ${top} ${what}`);
    };
    const kept = this.namesKept(found, drawsOf);
    const left = new Map<string, { mode: number; bytes?: Buffer }>();
    const leave = (node: Node, path: string) => {
      for (const [name, child] of namesLeft(node.names, found.get(node)?.names ?? node.names, kept.has(node))) {
        const at = join(path, name);
        if (child.isFolder) {
          left.set(at, { mode: child.mode });
          leave(child, at);
          continue;
        }
        const now = found.get(child)?.bytes ?? child.bytes;
        const bytes = SQLITE_FILE.test(name)
          ? now
          : bytesLeft(child.bytes, now, drawsOf(at, `${extname(name)} ${now.length}`));
        left.set(at, { mode: child.mode, bytes: withDeadProcess(bytes) });
      }
    };
    leave(root, folder);
    return left;
  }

  /** Makes a folder what a power cut has left of it. */
  become(folder: string, left: Left): void {
    for (const name of readdirSync(folder, { recursive: true }) as string[]) {
      const path = join(folder, name);
      if (!left.has(path)) rmSync(path, { recursive: true, force: true });
    }
    for (const [path, { mode, bytes }] of left) {
      if (bytes === undefined) mkdirSync(path, { recursive: true, mode });
      else if (lstatSync(path, { throwIfNoEntry: false }) === undefined || !readFileSync(path).equals(bytes))
        writeFileSync(path, bytes, { mode });
    }
    this.settle(folder);
  }

  /** What a sync that begins now makes last, once it has ended. */
  private seen(fd: number): () => void {
    const stats = fstatSync(fd);
    const node = this.nodeOf(stats);
    const { bytes, names } = this.look(`/proc/self/fd/${fd}`, stats);
    const moves = this.moves.filter(({ from, to }) => from === node || to === node);
    const sync = ++this.syncs;
    return () => {
      for (const { commit } of moves) commit();
      this.moves = this.moves.filter((move) => !moves.includes(move));
      if (sync > node.sync) Object.assign(node, { bytes, names, sync });
    };
  }

  private moved(from: string, to: string): void {
    const [left, entered] = [dirname(from), dirname(to)].map((path) => this.nodeOf(lstatSync(path))) as [Node, Node];
    const node = this.nodeOf(lstatSync(to));
    const commit = () => {
      left.names = new Map([...left.names].filter(([name]) => name !== basename(from)));
      entered.names = new Map([...entered.names, [basename(to), node]]);
      this.anchor(dirname(to));
    };
    this.moves.push({ from: left, to: entered, commit });
  }

  /** A folder in which something lasts has a name that lasts. */
  private anchor(path: string): void {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined || dirname(path) === path) return;
    const [node, parent] = [this.nodeOf(stats), this.nodeOf(lstatSync(dirname(path)))];
    if (parent.names.get(basename(path)) === node) return;
    parent.names = new Map([...parent.names, [basename(path), node]]);
    this.anchor(dirname(path));
  }

  /** Folders whose names are left as they are, synced or not. */
  private namesKept(found: ReadonlyMap<Node, Found>, drawsOf: (path: string) => Draws): Set<Node> {
    const folders = [...found].filter(([{ isFolder }]) => isFolder);
    const kept = new Set(folders.filter(([, { path }]) => drawsOf(path).chance(0.5)).map(([node]) => node));
    for (let before = -1; before < kept.size; ) {
      before = kept.size;
      for (const { from, to } of this.moves) if (kept.has(from) || kept.has(to)) kept.add(from).add(to);
    }
    return kept;
  }

  private look(path: string, stats: Stats): Found {
    if (!stats.isDirectory()) return { path, bytes: readFileSync(path), names: new Map() };
    const names = readdirSync(path).sort();
    return {
      path,
      bytes: Buffer.alloc(0),
      names: new Map(names.map((name) => [name, this.nodeOf(lstatSync(join(path, name)))])),
    };
  }

  private find(path: string, found: Map<Node, Found>): Node {
    const stats = lstatSync(path);
    const node = this.nodeOf(stats);
    const there = this.look(path, stats);
    found.set(node, there);
    for (const name of there.names.keys()) this.find(join(path, name), found);
    return node;
  }

  private nodeOf(stats: Stats): Node {
    const known = this.nodes.get(stats.ino);
    if (known !== undefined && known.isFolder === stats.isDirectory()) return known;
    const mode = stats.mode & 0o777;
    const node = { isFolder: stats.isDirectory(), mode, bytes: Buffer.alloc(0), names: new Map(), sync: 0 };
    this.nodes.set(stats.ino, node);
    return node;
  }
}

/** The numbers of the inodes that have no name once a path is gone. */
function numbersIn(path: string): number[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (!stats.isDirectory()) return stats.nlink > 1 ? [] : [stats.ino];
  return [stats.ino, ...readdirSync(path).flatMap((name) => numbersIn(join(path, name)))];
}

/** Names as they are, or as they were when the folder was synced; those of SQLite, which does so itself, are as they are. */
function namesLeft(synced: Found['names'], now: Found['names'], keeps: boolean): Iterable<[string, Node]> {
  if (keeps) return now;
  const isOurs = ([name]: [string, Node]) => !SQLITE_FILE.test(name);
  return [...[...synced].filter(isOurs), ...[...now].filter((each) => !isOurs(each))];
}

/** Bytes that were not synced are there, or not, or in part, or were only given room. */
function bytesLeft(synced: Buffer, now: Buffer, draws: Draws): Buffer {
  const how = draws.one(['synced', 'written', 'part', 'room']);
  const isMore = now.length >= synced.length && now.subarray(0, synced.length).equals(synced);
  if (how === 'written' || (isMore && now.length === synced.length)) return now;
  if (how === 'synced') return synced;
  // What was overwritten in place may be there in part, and the rest is gone.
  const part = now.subarray(0, draws.whole(isMore ? synced.length : 0, now.length));
  return how === 'part' ? part : Buffer.concat([part, Buffer.alloc(now.length - part.length)]);
}

/** Who noted that it is at work is not there when the machine has started again. */
function withDeadProcess(bytes: Buffer): Buffer {
  const noted = `"pid":${process.pid},`;
  return bytes.length < 4096 && bytes.includes(noted)
    ? Buffer.from(bytes.toString('latin1').replace(noted, `"pid":${NOBODY},`), 'latin1')
    : bytes;
}
