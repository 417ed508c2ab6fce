import { refuseOtherSpelling, relativeDate } from '../../core/dates/relativedate.ts';
import type { NameKind } from '../../core/names/namerows.ts';
import type { Names } from '../../core/names/namesfile.ts';
import type { Context } from '../context.ts';
import { askedLocations, readNames, readZones } from '../names/profilenames.ts';
import type { Meaning } from './declare.ts';
import { listed } from './filters.ts';
import { type FlagValues, isOn, textFlag, textFlags } from './values.ts';

type Known = Readonly<Record<string, object>>;

/** The flags with what their texts mean, and a note on the dates that were taken, if any. */
export interface Understood {
  readonly flags: FlagValues;
  readonly note: string | undefined;
  /** The note tells that the zone is this computer's. */
  readonly isComputersZoneTold: boolean;
}

/**
 * Makes names into ids and relative dates into dates, once for the whole run: from there on they are as if typed. Throws a
 * Failure (exit 2) for a name that is none or of several, and for a date written in another way.
 */
export function understood(
  flags: FlagValues,
  known: Known,
  { env, clock }: Pick<Context, 'env' | 'clock'>,
): Understood {
  const given = Object.entries(known).flatMap(([name, flag]) => {
    const { means } = flag as { means?: Meaning };
    return means === undefined || textFlags(flags, name).length === 0 ? [] : [{ name, means }];
  });
  let names: Names | undefined;
  const namesOnce = () => {
    names ??= readNames(flags, env);
    return names;
  };
  const named = given.flatMap(({ name, means }) =>
    means === 'date'
      ? []
      : [[name, mapped(flags[name], (text) => idsOf(text, means, namesOnce, `--${name}`))] as const],
  );
  const withIds = { ...flags, ...Object.fromEntries(named) };
  const dates = given.filter(({ means }) => means === 'date').map(({ name }) => name);
  return withDates(withIds, dates, () => {
    const zones = readZones(withIds, env, namesOnce());
    const { zone, origin } = zones.today(askedLocations(withIds));
    const { date } = zones.clock({ zone }).of(clock.now());
    const isComputers = origin === 'computer';
    return { date, isComputers, text: `${date} in ${zone}${isComputers ? ", this computer's time zone" : ''}` };
  });
}

/** Today, and how to say it. */
interface Today {
  readonly date: string;
  readonly text: string;
  readonly isComputers: boolean;
}

function withDates(flags: FlagValues, names: readonly string[], find: () => Today): Understood {
  let today: Today | undefined;
  const date = () => {
    today ??= find();
    return today.date;
  };
  const taken: string[] = [];
  const dates = names.map((name) => {
    const value = mapped(flags[name], (text) => {
      refuseOtherSpelling(text, `--${name}`);
      const relative = relativeDate(text, date, `--${name}`);
      if (relative !== undefined) taken.push(`--${name} is ${relative}`);
      return relative ?? text;
    });
    return [name, value] as const;
  });
  const isSilent = taken.length === 0 || isOn(flags, 'json') || textFlag(flags, 'format') === 'json';
  return {
    flags: { ...flags, ...Object.fromEntries(dates) },
    note: isSilent ? undefined : `${taken.join(', ')} (today is ${today?.text}).`,
    isComputersZoneTold: !isSilent && today?.isComputers === true,
  };
}

function mapped(value: unknown, read: (text: string) => string): unknown {
  return Array.isArray(value) ? value.map(read) : read(String(value));
}

/** Ids for what a flag says: a whole name, or names, ids and ALL with commas between them, quoted where a name has one. */
function idsOf(text: string, kind: NameKind, names: () => Names, source: string): string {
  const isId = (part: string) => /^(?:\d+|all|\*|)$/i.test(part.trim());
  if (text.split(',').every(isId)) return text;
  if (names().has(kind, text)) return names().idOf(kind, text, source);
  return listed(text, source)
    .map((part) => (isId(part) ? part.trim() : names().idOf(kind, part, source)))
    .join(',');
}
