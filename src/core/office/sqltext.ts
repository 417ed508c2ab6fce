import type { Days } from './calendar.ts';
import type { Question } from './report.ts';

/** A text as a literal of SQL. */
export function textSql(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Texts as a list of SQL, in parentheses. */
export function textsSql(texts: readonly string[]): string {
  return `(${texts.map(textSql).join(', ')})`;
}

/** Ids as a list of SQL, in parentheses; one that is no whole number equals no id of a mirror. */
export function idsSql(ids: readonly string[]): string {
  return `(${ids.map((id) => (/^\d+$/.test(id) ? id : textSql(id))).join(', ')})`;
}

/** Conditions that all hold; empty ones are left out. */
export function allOf(...conditions: readonly string[]): string {
  return conditions.filter((condition) => condition !== '').join('\n    AND ');
}

/** Whether a record is of one of the locations asked for; empty where all are. The sign keeps dates the better index. */
export function inLocationsSql({ locations }: Pick<Question, 'locations'>, location: string): string {
  return locations === null ? '' : `+${location} IN ${idsSql(locations)}`;
}

/** Whether a date is one of these days. */
export function datesSql(date: string, { from, to }: Days): string {
  return `${date} >= ${textSql(from)} AND ${date} <= ${textSql(to)}`;
}

/** The texts whose conditions hold, in their order, joined by `;`. */
export function listSql(entries: readonly (readonly [text: string, condition: string])[]): string {
  const parts = entries.map(([text, condition]) => `CASE WHEN ${condition} THEN ${textSql(`;${text}`)} ELSE '' END`);
  return `substr(${parts.join('\n      || ')}, 2)`;
}
