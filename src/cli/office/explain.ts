import { type FlagValues, isOn, textFlag } from '../flags/values.ts';
import type { Asked, Setting } from './asked.ts';
import type { ReportSpec } from './spec.ts';

/** What `--explain` prints: what the report counts, and its SQL or its requests of the API. `hasHistory`: of the mirror. */
export function explanation(spec: ReportSpec, asked: Asked, setting: Setting, hasHistory: boolean): string {
  const { name: report, title, definition } = spec;
  const sql = asked.sql?.({ ...setting.question, hasHistory }) ?? null;
  const requests = asked.requests(setting);
  if (wantsJson(setting.flags)) return `${JSON.stringify({ report, definition, sql, requests })}\n`;
  const how = sql === null ? ['Requests of the API:', ...requests] : ['SQL, as molar query runs it:', sql];
  return `${[title, definition, '', ...how].join('\n')}\n`;
}

function wantsJson(flags: FlagValues): boolean {
  return isOn(flags, 'json') || textFlag(flags, 'format') === 'json';
}
