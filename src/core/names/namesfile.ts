import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { foldText } from '../../catalog/filter/values.ts';
import { decodeText } from '../../text/decode.ts';
import type { Environment } from '../environment.ts';
import { codeOf, type Failure, fileFailure, localFailure, usageFailure } from '../failure.ts';
import { didYouMean } from '../nearest.ts';
import { guarded, writeAtomicFile } from '../output/atomicfile.ts';
import { makeOwnFolder } from '../output/ownfile.ts';
import { configFolder } from '../profiles/config.ts';
import {
  compareRows,
  formatNames,
  keyOf,
  type NameKind,
  type NameRow,
  NamesSyntax,
  nameId,
  parseNames,
} from './namerows.ts';

/** The names file of a profile, or of those who use none: `names/PROFILE.csv` beside the config file (D55). */
export function namesPath(profile: string | undefined, env: Environment): string {
  return join(configFolder(env), 'names', `${profile ?? 'default'}.csv`);
}

/** A location by its id and what is said of it. */
export interface NamedLocation {
  readonly id: string;
  readonly name: string | undefined;
  /** IANA name. */
  readonly timezone: string | undefined;
  readonly order: number | undefined;
}

/** What the ids of locations, providers and operatories are called (D55). Ids are decimal text, so exact at any size. */
export class Names {
  /** By kind, order and id. */
  readonly rows: readonly NameRow[];
  private readonly byKey: ReadonlyMap<string, NameRow>;

  constructor(rows: readonly NameRow[]) {
    this.rows = rows.toSorted(compareRows);
    this.byKey = new Map(rows.map((row) => [keyOf(row), row]));
  }

  /** A names file; empty where there is none. Throws a Failure (exit 9) for one that cannot be read. */
  static read(file: string): Names {
    try {
      return new Names(parseNames(decodeText(readFileSync(file))));
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return new Names([]);
      if (!(cause instanceof NamesSyntax)) throw fileFailure(`read the names file ${file}`, cause);
      throw localFailure('local.file', `The names file ${file} has a mistake in ${cause.message}`, {
        source: file,
        hint: 'Correct it in an editor, or remove it and run molar names learn.',
        cause,
      });
    }
  }

  /** Replaces the file as a unit, for its owner only. Throws a Failure (exit 9). */
  async write(file: string): Promise<void> {
    await guarded(`make the folder ${dirname(file)}`, () => makeOwnFolder(dirname(file)));
    await writeAtomicFile(file, formatNames(this.rows));
  }

  get isEmpty(): boolean {
    return this.rows.length === 0;
  }

  /** The row of an id. */
  rowOf(kind: NameKind, id: string): NameRow | undefined {
    return this.byKey.get(keyOf({ kind, id }));
  }

  /** Undefined where an id has no name. */
  nameOf(kind: NameKind, id: string): string | undefined {
    return this.rowOf(kind, id)?.name || undefined;
  }

  /** The time zone of a location, where the file tells it. */
  zoneOf(location: string): string | undefined {
    return this.rowOf('location', location)?.timezone || undefined;
  }

  /** The place of an id among its kind; those without one come last. */
  orderOf(kind: NameKind, id: string): number | undefined {
    return this.rowOf(kind, id)?.order ?? undefined;
  }

  /** Every location of the file, by order and id. */
  locations(): readonly NamedLocation[] {
    const rows = this.rows.filter(({ kind }) => kind === 'location');
    return rows.map(({ id, name, timezone, order }) => ({
      id,
      name: name || undefined,
      timezone: timezone || undefined,
      order: order ?? undefined,
    }));
  }

  /**
   * The id that a text means: digits are one, other text is a whole name in any letter case and Unicode form. Throws a
   * Failure (exit 2) for a name that nothing has, or several have. `source`: the flag that has the text.
   */
  idOf(kind: NameKind, text: string, source: string): string {
    const typed = text.trim();
    if (/^\d+$/.test(typed)) return nameId(typed) ?? typed;
    const found = this.named(kind, typed);
    const [first, other] = found;
    if (first === undefined) throw this.unknown(kind, typed, source);
    if (other === undefined) return first.id;
    const ids = found.map(({ id }) => id).join(', ');
    throw usageFailure(`${source}: ${found.length} ${pluralOf(kind)} are named ${first.name}: ${ids}.`, {
      source,
      hint: 'Give the id, or make the names differ with molar names edit.',
    });
  }

  /** All names of a kind, in the order of the file. */
  names(kind: NameKind): readonly string[] {
    return this.rows.filter((row) => row.kind === kind && row.name !== '').map(({ name }) => name);
  }

  /** Whether anything has this name. */
  has(kind: NameKind, text: string): boolean {
    return this.named(kind, text.trim()).length > 0;
  }

  private named(kind: NameKind, text: string): readonly NameRow[] {
    const wanted = foldText(text);
    return this.rows.filter((row) => row.kind === kind && row.name !== '' && foldText(row.name) === wanted);
  }

  private unknown(kind: NameKind, typed: string, source: string): Failure {
    const known = this.names(kind);
    const shown = JSON.stringify(typed.length > MAX_SHOWN ? `${typed.slice(0, MAX_SHOWN)}…` : typed);
    return usageFailure(`${source}: no ${kind} is named ${shown}.${didYouMean(typed, known)}`, {
      source,
      hint:
        known.length === 0
          ? `Give the id; names of ${pluralOf(kind)} come from molar names (molar names --help).`
          : `molar names list --kind ${kind} shows those there are.`,
    });
  }
}

/** Maximum characters of a name that a message repeats. */
const MAX_SHOWN = 40;

/** Several of a kind. */
export function pluralOf(kind: NameKind) {
  return kind === 'operatory' ? 'operatories' : (`${kind}s` as const);
}
