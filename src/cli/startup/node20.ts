/**
 * What only Node before 22.8 needs. Delete this file with its test, `LOADER` in bin/bundle.mjs and the last part of
 * `start` in bin/run.js when package.json requires Node 22.8 or newer, which caches compiled code itself. A list of one page takes 79 ms of CPU with it and
 * 107 ms without.
 */
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { delayOptimizedParser } from './v8flags.ts';

/** The line of Node for which it was measured; later ones have another compiler in between. */
const MEASURED = /^v20\./;

/**
 * Makes V8 optimize a function only after sixteen times the usual use. Runs of a second call thousands of functions
 * some hundred times each: what V8 optimizes there is done too late to pay, on a core that the server may need.
 */
export function delayOptimizer(): void {
  if (MEASURED.test(process.version)) setFlagsFromString('--interrupt-budget=1081344');
}

/** Exports of a module. */
type Exports = Readonly<Record<string, unknown>>;

/** The code that V8 compiled one file to, and the checksum of the file's text. */
interface CachedCode {
  readonly checksum: number;
  readonly code: Uint8Array;
}

/** Where the code of a file is in the cache file, in bytes. */
interface CacheEntry {
  readonly name: string;
  readonly checksum: number;
  readonly offset: number;
  readonly length: number;
}

/** The cache file begins with the checksum of the rest and the offset of the list of entries, which ends the file. */
const HEADER_BYTES = 8;
/** V8 copies code that does not begin at a multiple of this. */
const ALIGNMENT = 8;

/** The arguments of a CommonJS module. */
const WRAPPER = '(function (exports, require, module, __filename, __dirname) { ';

/**
 * Loads the modules of dist/ with the code that V8 compiled in an earlier run. Cached code is used only when it is
 * intact, compiled from the very same text, and in a file that nobody else can write.
 */
export class CodeCache {
  private readonly cached: ReadonlyMap<string, CachedCode>;
  private readonly modules = new Map<string, { exports: Exports }>();
  private readonly scripts = new Map<string, { script: Script; checksum: number }>();
  private isComplete = true;

  /** `root` is the folder of the modules, `file` the cache, `outside` loads what is not below `root`. */
  constructor(
    private readonly root: string,
    private readonly file: string,
    private readonly outside: NodeJS.Require,
  ) {
    // Flags are part of what V8 compares: setting one later would make it reject what was loaded before.
    delayOptimizedParser();
    this.cached = readCache(file);
  }

  /** The exports of a module by its path, evaluated on first use. */
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
    this.compile(path).runInThisContext()(module.exports, require, module, path, folder);
    return module.exports;
  }

  /** Stores the code of this run for the next ones, if it can be stored. */
  save(): void {
    if (this.isComplete) return;
    try {
      const folder = dirname(this.file);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      if (!isPrivate(folder)) return;
      // Beside the file, and renamed, so that nobody ever reads half of it.
      const fresh = `${this.file}.${process.pid}`;
      writeFileSync(fresh, packed(this.codes()), { mode: 0o600 });
      // Some file systems wait for the disk when a rename replaces a file, which a cache is not worth.
      rmSync(this.file, { force: true });
      renameSync(fresh, this.file);
    } catch {
      // A full disk or a read-only home: the next run compiles again.
    }
  }

  /** The code of this run, and that of other runs whose files still exist. */
  private codes(): ReadonlyMap<string, CachedCode> {
    const codes = new Map([...this.cached].filter(([name]) => existsSync(join(this.root, name))));
    for (const [name, { script, checksum }] of this.scripts) {
      codes.set(name, { checksum, code: script.createCachedData() });
    }
    return codes;
  }

  private compile(path: string): Script {
    const text = readFileSync(path);
    const checksum = crc32(text);
    const name = relative(this.root, path);
    const cached = this.cached.get(name);
    const cachedData = cached?.checksum === checksum ? cached.code : undefined;
    const script = new Script(`${WRAPPER}${text}\n})`, {
      filename: path,
      columnOffset: -WRAPPER.length,
      ...(cachedData && { cachedData }),
    });
    // V8 rejects code of another version or with other flags.
    if (cachedData === undefined || script.cachedDataRejected === true) this.isComplete = false;
    this.scripts.set(name, { script, checksum });
    return script;
  }
}

/** The cached code by file name; nothing if the cache file is missing, damaged, or writable by others. */
function readCache(file: string): ReadonlyMap<string, CachedCode> {
  try {
    if (!isPrivate(dirname(file))) return new Map();
    const bytes = readFileSync(file);
    if (crc32(bytes.subarray(4)) !== bytes.readUInt32LE(0)) return new Map();
    const entries = JSON.parse(bytes.toString('utf8', bytes.readUInt32LE(4))) as readonly CacheEntry[];
    return new Map(
      entries.map(({ name, checksum, offset, length }) => [
        name,
        { checksum, code: bytes.subarray(offset, offset + length) },
      ]),
    );
  } catch {
    return new Map();
  }
}

function packed(codes: ReadonlyMap<string, CachedCode>): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  const parts: Uint8Array[] = [header];
  const entries: CacheEntry[] = [];
  let offset = HEADER_BYTES;
  for (const [name, { checksum, code }] of codes) {
    const padded = Math.ceil(code.length / ALIGNMENT) * ALIGNMENT;
    entries.push({ name, checksum, offset, length: code.length });
    parts.push(code, Buffer.alloc(padded - code.length));
    offset += padded;
  }
  header.writeUInt32LE(offset, 4);
  const bytes = Buffer.concat([...parts, Buffer.from(JSON.stringify(entries))]);
  bytes.writeUInt32LE(crc32(bytes.subarray(4)), 0);
  return bytes;
}

/** Whether nobody else can write to a folder: what is in it will be executed. */
function isPrivate(folder: string): boolean {
  const facts = lstatSync(folder);
  return facts.isDirectory() && facts.uid === process.geteuid?.() && (facts.mode & 0o077) === 0;
}
