import type { Fields } from '../../catalog/fields/kind.ts';
import { emittedFields } from '../../catalog/record.ts';
import type { Environment } from '../../core/environment.ts';
import { linkedId, locationField, withNames } from '../../core/names/namecolumns.ts';
import type { Zones } from '../../core/names/zones.ts';
import { project } from '../../core/output/columns.ts';
import { FORMATS } from '../../core/output/formats.ts';
import type { LocalClock } from '../../core/output/localclock.ts';
import { withLocalColumns, withLocalTimes } from '../../core/output/localtimes.ts';
import type { Row } from '../../core/pages/page.ts';
import { type FlagValues, isOn } from '../flags/values.ts';
import { askedLocations, readNames, readZones } from '../names/profilenames.ts';
import type { RowPlan } from './plan.ts';

/** The clock of each record: that of its location, else that of the command line (D56). */
export function clocksOf(fields: Fields, flags: FlagValues, zones: Zones): (record: Row) => LocalClock {
  const field = locationField(fields);
  const otherwise = zones.today(askedLocations(flags));
  return (record) => {
    const location = field === undefined ? undefined : linkedId(record, field);
    return zones.clock(location === undefined ? otherwise : zones.of(location));
  };
}

/**
 * A plan whose records are shown as their locations have it: for people with names beside ids and local times, for
 * programs with `--local-times`. Requests the location of each record where its time zone depends on it.
 */
export function withPlaces(plan: RowPlan, fields: Fields, flags: FlagValues, env: Environment): RowPlan {
  const { isLocal = false, content } = FORMATS[plan.format];
  if (!isLocal && !isOn(flags, 'local-times')) return plan;
  const names = readNames(flags, env);
  const zones = readZones(flags, env, names);
  const clockOf = clocksOf(fields, flags, zones);
  const requested = zones.areSeveral ? withLocation(plan, fields) : plan.fields;
  if (isLocal) {
    const named = withNames(plan.columns, fields, names);
    const more = named && { columns: named.columns, shape: named.add };
    return { ...plan, fields: requested, clockOf, zones, ...more };
  }
  const ofRecords = content === 'records';
  return {
    ...plan,
    fields: requested,
    columns: withLocalColumns(plan.columns),
    shape: (record) => {
      const shown = ofRecords ? project(record, plan.selection) : record;
      return withLocalTimes(shown, fields, clockOf(record));
    },
  };
}

function withLocation({ fields: requested, columns }: RowPlan, fields: Fields): readonly string[] | undefined {
  const field = locationField(fields);
  if (requested === undefined || field === undefined || columns.every(({ kind }) => kind !== 'dateTime'))
    return requested;
  return emittedFields(fields).filter((name) => name === field || requested.includes(name));
}
