import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { delayOptimizedParser } from './parserflag.ts';

export { delayOptimizer } from './optimizerflag.ts';

/** Exports of a module. */
type Exports = Readonly<Record<string, unknown>>;

/** What V8 made of one file, and the sum of the text that it was made of. */
interface Code {
  readonly of: number;
  readonly code: Uint8Array;
}

/** Where the code of a file lies among the bytes that are kept. */
interface Place {
  readonly name: string;
  readonly of: number;
  readonly at: number;
  readonly length: number;
}

/** A file of codes begins with the sum of the rest, and where in it the list of places lies, which ends it. */
const HEAD = 8;
/** V8 copies what does not begin at a multiple of this. */
const ALIGNED = 8;

/** The arguments of a module of CommonJS. */
const OPEN = '(function (exports, require, module, __filename, __dirname) { ';

/**
 * Loads the modules of dist/ with the code that V8 made of them in an earlier run, for versions of Node that keep none
 * themselves. What is kept is taken back only whole, of the very same text, and from a file that nobody else can write.
 */
export class KeptCode {
  private readonly root: string;
  private readonly file: string;
  private readonly outside: NodeJS.Require;
  private readonly kept: ReadonlyMap<string, Code>;
  private readonly modules = new Map<string, { exports: Exports }>();
  private readonly scripts = new Map<string, { script: Script; of: number }>();
  private isComplete = true;

  /** `root` is the folder of the modules, `file` where their code is kept, `outside` loads what is not of ours. */
  constructor(root: string, file: string, outside: NodeJS.Require) {
    this.root = root;
    this.file = file;
    this.outside = outside;
    // Flags are part of what V8 compares, and setting one later would make it refuse what was loaded before.
    delayOptimizedParser();
    this.kept = readKept(file);
  }

  /** The exports of a module by its path, evaluated when it is first asked for. */
  load(path: string): Exports {
    const known = this.modules.get(path);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    this.modules.set(path, module);
    const folder = dirname(path);
    const require = (id: string) => {
      if (id.startsWith('.')) return this.load(join(folder, id));
      return id.startsWith(this.root) ? this.load(id) : this.outside(id);
    };
    this.compiled(path).runInThisContext()(module.exports, require, module, path, folder);
    return module.exports;
  }

  /** Keeps the code of this run for the next ones; says nothing when it cannot be kept. */
  keep(): void {
    if (this.isComplete) return;
    try {
      const folder = dirname(this.file);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (!isOurs(folder)) return;
      // Beside the file, and renamed, so that nobody ever reads half of it.
      const fresh = `${this.file}.${process.pid}`;
      writeFileSync(fresh, packed(this.codes()), { mode: 0o600 });
      // Some file systems wait for the disk when a file takes the place of another one, which this is not worth.
      rmSync(this.file, { force: true });
      renameSync(fresh, this.file);
    } catch {
      // A full disk, a home that cannot be written: the next run compiles again.
    }
  }

  /** The code of this run, and of what other runs loaded and is still there. */
  private codes(): ReadonlyMap<string, Code> {
    const codes = new Map([...this.kept].filter(([name]) => existsSync(join(this.root, name))));
    for (const [name, { script, of }] of this.scripts) codes.set(name, { of, code: script.createCachedData() });
    return codes;
  }

  private compiled(path: string): Script {
    const text = readFileSync(path);
    const of = crc32(text);
    const name = relative(this.root, path);
    const kept = this.kept.get(name);
    const cachedData = kept?.of === of ? kept.code : undefined;
    const script = new Script(`${OPEN}${text}\n})`, {
      filename: path,
      columnOffset: -OPEN.length,
      ...(cachedData && { cachedData }),
    });
    // V8 refuses what another version made, or one with other flags.
    if (cachedData === undefined || script.cachedDataRejected === true) this.isComplete = false;
    this.scripts.set(name, { script, of });
    return script;
  }
}

/** What is kept, by names; nothing when the file is not there, not whole, or open to others. */
function readKept(file: string): ReadonlyMap<string, Code> {
  try {
    if (!isOurs(dirname(file))) return new Map();
    const bytes = readFileSync(file);
    if (crc32(bytes.subarray(4)) !== bytes.readUInt32LE(0)) return new Map();
    const places = JSON.parse(bytes.toString('utf8', bytes.readUInt32LE(4))) as readonly Place[];
    return new Map(places.map(({ name, of, at, length }) => [name, { of, code: bytes.subarray(at, at + length) }]));
  } catch {
    return new Map();
  }
}

function packed(codes: ReadonlyMap<string, Code>): Buffer {
  const head = Buffer.alloc(HEAD);
  const parts: Uint8Array[] = [head];
  const places: Place[] = [];
  let at = HEAD;
  for (const [name, { of, code }] of codes) {
    const room = Math.ceil(code.length / ALIGNED) * ALIGNED;
    places.push({ name, of, at, length: code.length });
    parts.push(code, Buffer.alloc(room - code.length));
    at += room;
  }
  head.writeUInt32LE(at, 4);
  const bytes = Buffer.concat([...parts, Buffer.from(JSON.stringify(places))]);
  bytes.writeUInt32LE(crc32(bytes.subarray(4)), 0);
  return bytes;
}

/** Whether nobody else can write in a folder: what lies there will be run. */
function isOurs(folder: string): boolean {
  const { uid, mode } = statSync(folder);
  return uid === process.getuid?.() && (mode & 0o077) === 0;
}
