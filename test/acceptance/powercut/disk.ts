import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import type { Handle, Step } from './recording.ts';

/*
 * A disk below one folder, as strictly as POSIX allows: bytes last once their file was synced, names once their folder
 * was. Of the rest anything may be there after a power cut: names in the order in which each folder was changed, up to
 * any point, and any of the writes, whole or in part. A rename between two folders happens in both or in neither.
 */

/** A file: what of it lasts, what it is now, and the writes that make the difference. */
export class FileNode {
  readonly durable: Content;
  readonly current: Content;
  pending: Change[] = [];

  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.durable = new Content(bytes);
    this.current = new Content(bytes);
  }
}

/** A folder, by the names in it. */
export class FolderNode {
  readonly durable = new Map<string, Node>();
  readonly current = new Map<string, Node>();
  /** What gave it its name; undefined for one that was there before. */
  birth: Naming | undefined;
}

export type Node = FileNode | FolderNode;

/** Bytes written at a place, or a new size; `time` orders all that happens. */
export interface Change {
  readonly time: number;
  readonly at: number;
  readonly bytes?: Buffer;
}

/** Bytes that change in place. */
export class Content {
  private buffer: Buffer;
  size: number;

  constructor(bytes: Buffer) {
    this.buffer = Buffer.from(bytes);
    this.size = bytes.length;
  }

  /** A view, which is right until the next change. */
  bytes(): Buffer {
    return this.buffer.subarray(0, this.size);
  }

  take({ at, bytes }: Change): void {
    const end = at + (bytes?.length ?? 0);
    if (end > this.buffer.length) {
      const larger = Buffer.alloc(2 * end);
      this.bytes().copy(larger);
      this.buffer = larger;
    }
    if (bytes === undefined) this.buffer.fill(0, Math.min(at, this.size), Math.max(at, this.size));
    bytes?.copy(this.buffer, at);
    this.size = bytes === undefined ? at : Math.max(this.size, end);
  }
}

/** Names that change as one. */
export interface Naming {
  readonly time: number;
  readonly parts: readonly { readonly folder: FolderNode; readonly name: string; readonly node: Node | undefined }[];
}

interface Opened {
  readonly node: Node;
  readonly appends: boolean;
  position: number;
}

/** The state of a disk, and of what was not synced yet, while recorded steps happen to it. */
export class Disk {
  readonly root = new FolderNode();
  /** Changes of names that may be lost, oldest first. */
  names: Naming[] = [];
  private time = 0;
  private opened = new Map<Handle, Opened | undefined>();
  private readonly syncs = new Map<number, { readonly node: Node; readonly time: number }>();

  /** A disk with what is in a folder now, or what another disk has; all of it lasts. */
  constructor(
    readonly folder: string,
    like?: Disk,
  ) {
    if (like === undefined) this.load(folder, this.root);
    else this.copy(like.root, this.root);
  }

  private copy(from: FolderNode, to: FolderNode, copied = new Map<Node, Node>()): void {
    for (const [name, node] of from.current) {
      const made =
        copied.get(node) ?? (node instanceof FileNode ? new FileNode(node.current.bytes()) : new FolderNode());
      copied.set(node, made);
      if (node instanceof FolderNode && made instanceof FolderNode) this.copy(node, made, copied);
      to.durable.set(name, made);
      to.current.set(name, made);
    }
  }

  private load(path: string, node: FolderNode): void {
    for (const name of readdirSync(path)) {
      const child = join(path, name);
      const isFolder = lstatSync(child).isDirectory();
      const made = isFolder ? new FolderNode() : new FileNode(readFileSync(child));
      if (made instanceof FolderNode) this.load(child, made);
      node.durable.set(name, made);
      node.current.set(name, made);
    }
  }

  /** Lets a step happen; one that is about another place changes nothing. */
  take(step: Step): void {
    this.time++;
    switch (step.does) {
      case 'open':
        this.open(step);
        break;
      case 'duplicate':
        this.opened.set(step.to, this.opened.get(step.handle));
        break;
      case 'seek': {
        const file = this.opened.get(step.handle);
        if (file !== undefined) file.position = step.to;
        break;
      }
      case 'write':
        this.write(step.handle, step.bytes, step.at);
        break;
      case 'copy': {
        const from = this.opened.get(step.from);
        if (from?.node instanceof FileNode) {
          const at = step.fromAt ?? from.position;
          this.write(step.to, Buffer.from(from.node.current.bytes().subarray(at, at + step.size)), step.at);
          if (step.fromAt === undefined) from.position += step.size;
        } else if (this.opened.get(step.to) !== undefined)
          throw new Error('What is copied from elsewhere is not known.');
        break;
      }
      case 'resize': {
        const node = this.opened.get(step.handle)?.node;
        if (node instanceof FileNode) this.change(node, { time: this.time, at: step.size });
        break;
      }
      case 'make folder':
        this.makeFolder(step.path);
        break;
      case 'rename':
        this.rename(step.path, step.to);
        break;
      case 'link':
        this.name([[step.to, this.nodeAt(step.path)]]);
        break;
      case 'remove':
        this.name([[step.path, undefined]]);
        break;
      case 'begin sync': {
        const node = this.opened.get(step.handle)?.node;
        if (node !== undefined) this.syncs.set(step.number, { node, time: this.time });
        break;
      }
      case 'end sync': {
        const sync = this.syncs.get(step.number);
        if (sync !== undefined) this.sync(sync.node, sync.time);
        break;
      }
      case 'tell':
    }
  }

  /** The node that a path has now, undefined for none and for one elsewhere. */
  nodeAt(path: string): Node | undefined {
    return this.namesOf(path)?.reduce<Node | undefined>(
      (node, name) => (node instanceof FolderNode ? node.current.get(name) : undefined),
      this.root,
    );
  }

  private namesOf(path: string): string[] | undefined {
    const inside = relative(this.folder, path);
    if (inside === '') return [];
    return inside === '..' || inside.startsWith(`..${sep}`) ? undefined : inside.split(sep);
  }

  private open({ handle, path, flags }: Step & { does: 'open' }): void {
    if (flags.has('O_TMPFILE') && this.nodeAt(path) !== undefined) throw new Error('Nameless files are not modelled.');
    // A descriptor that was another file's before is so no more, wherever this one is.
    this.opened.delete(handle);
    let node = this.nodeAt(path);
    if (node === undefined) {
      if (!flags.has('O_CREAT') || this.folderOf(path) === undefined) return;
      node = new FileNode();
      this.name([[path, node]]);
    }
    if (flags.has('O_TRUNC') && node instanceof FileNode && node.current.size > 0)
      this.change(node, { time: this.time, at: 0 });
    this.opened.set(handle, { node, position: 0, appends: flags.has('O_APPEND') });
  }

  private write(handle: Handle, bytes: Buffer, at: number | undefined): void {
    const file = this.opened.get(handle);
    if (!(file?.node instanceof FileNode)) return;
    const { node } = file;
    // Linux appends wherever it is told to write.
    const from = file.appends ? node.current.size : (at ?? file.position);
    this.change(node, { time: this.time, at: from, bytes });
    if (at === undefined) file.position = from + bytes.length;
  }

  private change(node: FileNode, change: Change): void {
    node.pending.push(change);
    node.current.take(change);
  }

  private folderOf(path: string): FolderNode | undefined {
    const node = path === this.folder ? undefined : this.nodeAt(dirname(path));
    return node instanceof FolderNode ? node : undefined;
  }

  private name(parts: readonly (readonly [path: string, node: Node | undefined])[]): void {
    const found = parts.flatMap(([path, node]) => {
      const folder = this.folderOf(path);
      return folder === undefined ? [] : [{ folder, name: path.slice(path.lastIndexOf(sep) + 1), node }];
    });
    if (found.length === 0) return;
    const naming = { time: this.time, parts: found };
    this.names.push(naming);
    for (const { folder, name, node } of found) set(folder.current, name, node);
  }

  private makeFolder(path: string): void {
    const node = new FolderNode();
    this.name([[path, node]]);
    node.birth = this.names.at(-1);
  }

  private rename(from: string, to: string): void {
    const node = this.nodeAt(from);
    if (node === undefined) {
      if (this.namesOf(from) ?? this.namesOf(to)) throw new Error(`${from} is renamed and was not known.`);
      return;
    }
    this.name([
      [to, node],
      [from, undefined],
    ]);
  }

  private sync(node: Node, time: number): void {
    if (node instanceof FolderNode) {
      for (const naming of this.names.filter((each) => each.time <= time && concerns(each, node))) this.commit(naming);
      return;
    }
    for (const change of node.pending) if (change.time <= time) node.durable.take(change);
    node.pending = node.pending.filter((change) => change.time > time);
  }

  /** Makes a change of names last, with what it follows from. */
  private commit(naming: Naming): void {
    if (!this.names.includes(naming)) return;
    const folders = naming.parts.map(({ folder }) => folder);
    const isBetween = new Set(folders).size > 1;
    const before = this.names.filter((each) => each.time < naming.time);
    for (const each of before) if (folders.some((folder) => concerns(each, folder))) this.commit(each);
    // A file that has left one folder for good is in the other, which therefore is somewhere.
    if (isBetween) for (const { birth } of folders) if (birth !== undefined) this.commit(birth);
    this.names = this.names.filter((each) => each !== naming);
    for (const { folder, name, node } of naming.parts) set(folder.durable, name, node);
  }
}

/** Whether a change of names is one of a folder. */
export function concerns({ parts }: Naming, folder: FolderNode): boolean {
  return parts.some((part) => part.folder === folder);
}

export function set(names: Map<string, Node>, name: string, node: Node | undefined): void {
  if (node === undefined) names.delete(name);
  else names.set(name, node);
}
