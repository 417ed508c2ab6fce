import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { isPlainObject } from '../../catalog/fields/kind.ts';
import { makePrivateFolder } from '../../filesystem/private.ts';
import { localFailure, usageFailure } from '../failure.ts';
import { jsonOf } from '../jsontext.ts';
import { guarded, readIfPresent, writeAtomicFile } from '../output/atomicfile.ts';
import { isSavedName } from '../profiles/config.ts';

/** Identifies a named position: it is valid on one server and for one organization only. */
export interface PositionKey {
  readonly name: string;
  readonly url: string;
  readonly organization: string;
}

/** Whether a text may be a position: `EPOCH-NUMBER`, which only the server understands (D53), or the id of a message. */
export function isPosition(text: string): boolean {
  return /^(?:[\w.~]{1,64}-)?\d{1,16}$/.test(text);
}

/** Where a named listener resumes. */
export interface NamedPosition extends PositionKey {
  readonly version: 1;
  /** Routing key patterns it listened with. */
  readonly keys: readonly string[];
  /** Behind the last handled message; earlier versions saved its id. */
  readonly position: string | number;
  /** UTC. */
  readonly movedAt: string;
}

/** Named positions in a folder, a file each. */
export class PositionStore {
  constructor(readonly folder: string) {}

  /** Undefined where there is none yet. Throws a Failure with exit code 9 when it cannot be read. */
  async read(key: PositionKey): Promise<NamedPosition | undefined> {
    const path = this.pathOf(key);
    const text = await readIfPresent(path);
    if (text === undefined) return undefined;
    const value = jsonOf(text);
    if (isNamedPosition(value)) return value;
    throw localFailure('local.file', `${path} is not a position that this molar can read.`, {
      source: path,
      hint: 'Remove it, and give the start with --from.',
    });
  }

  /** Replaces a position atomically. Throws a Failure with exit code 9. */
  write(position: NamedPosition): Promise<void> {
    return writeAtomicFile(this.pathOf(position), `${JSON.stringify(position)}\n`);
  }

  /** The path of a position's lock; makes the folder. */
  async lockPath(key: PositionKey): Promise<string> {
    await guarded(`make the folder ${this.folder}`, () => makePrivateFolder(this.folder));
    return `${this.pathOf(key)}.lock`;
  }

  private pathOf({ name, url, organization }: PositionKey): string {
    const hash = createHash('sha256')
      .update(JSON.stringify([name, url, organization]))
      .digest('hex');
    return join(this.folder, `${name}-${hash.slice(0, 12)}.json`);
  }
}

/** Checks the name of a listener; throws a Failure (exit 2). */
export function checkListenerName(name: string, source: string): string {
  if (isSavedName(name)) return name;
  throw usageFailure(`${source} is 1 to 64 letters, digits, dots, hyphens or underscores.`, { source });
}

function isNamedPosition(value: unknown): value is NamedPosition {
  return (
    isPlainObject(value) &&
    value.version === 1 &&
    ((typeof value.position === 'string' && isPosition(value.position)) || Number.isSafeInteger(value.position)) &&
    Array.isArray(value.keys) &&
    ['name', 'url', 'organization', 'movedAt'].every((name) => typeof value[name] === 'string')
  );
}

/** Saves how far a listener has come, at most every `pause` milliseconds, one save at a time and the newest last. */
export class PositionSaver {
  private position: string | undefined;
  private saved: string | undefined;
  private saving: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private problem: { readonly cause: unknown } | undefined;

  constructor(
    private readonly save: (position: string) => Promise<void>,
    private readonly pause: number,
  ) {}

  /** The start of a listener without a position: saved immediately, since the next start would begin elsewhere. */
  async start(position: string): Promise<void> {
    this.position = position;
    await this.flush();
  }

  /** Everything up to this position is handled. Rejects when this or an earlier save failed. */
  async advance(position: string): Promise<void> {
    this.position = position;
    if (this.pause === 0) return this.flush();
    if (this.problem !== undefined) throw this.problem.cause;
    this.timer ??= setTimeout(() => {
      this.flush().catch((cause: unknown) => {
        this.problem = { cause };
      });
    }, this.pause);
  }

  /** Saves what is not saved yet. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const saving = this.saving.catch(() => undefined).then(() => this.saveNewest());
    this.saving = saving;
    return saving;
  }

  private async saveNewest(): Promise<void> {
    const { position } = this;
    if (position === undefined || position === this.saved) return;
    await this.save(position);
    this.saved = position;
  }
}
