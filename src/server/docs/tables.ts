import { FAILURES } from '../../catalog/failures.ts';
import type { Field, Fields, Kind } from '../../catalog/fields/kind.ts';
import type { FilterKeys } from '../../catalog/filter/check.ts';
import { OPERATOR_MEANINGS } from '../../catalog/operators.ts';
import { emittedFields } from '../../catalog/record.ts';
import { keyNote } from '../openapi/parameters.ts';
import { type Html, html } from './markup.ts';

/**
 * A table whose first column heads its rows, as code where it is text. On phones rows are stacked, so cells between the
 * first and the last carry their heading.
 */
export function table(heads: readonly string[], rows: readonly (readonly (Html | string)[])[]): Html {
  const cell = (content: Html | string, index: number) => {
    if (index === 0)
      return html`<th scope="row">${typeof content === 'string' ? html`<code>${content}</code>` : content}</th>`;
    const between = index < heads.length - 1;
    return html`<td${between ? html` data-head="${heads[index]}"` : undefined}>${content}</td>`;
  };
  const head = heads.map((text) => html`<th scope="col">${text}</th>`);
  const body = rows.map((cells) => html`<tr>${cells.map(cell)}</tr>`);
  return html`<div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}

/** Texts as code, one after the other. */
export const codes = (texts: readonly string[]): Html[] => texts.map((text) => html`<code>${text}</code> `);

/** The fields of a record, with parts of objects, access and listed values. */
export function fieldsTable(fields: Fields): Html {
  return table(
    ['Field', 'Type', 'Access', 'Meaning'],
    fieldRows(fields).map((row) => [
      row.name,
      row.type,
      row.access,
      html`${row.about}${row.values.length > 0 ? html`<span class="values">${codes(row.values)}</span>` : undefined}`,
    ]),
  );
}

/** Filter keys with their operators. */
export function filtersTable(filters: FilterKeys): Html {
  return table(
    ['Key', 'Operators', 'Meaning'],
    Object.values(filters).map((key) => [
      key.key,
      html`<span class="operators">${key.operators.map((operator) => html`<code title="${OPERATOR_MEANINGS[operator]}">${operator}</code> `)}</span>`,
      html`${keyNote(key)} <span class="expected">${key.value.expected}</span>`,
    ]),
  );
}

/** The operators of filters. */
export function operatorsTable(): Html {
  return table(['Operator', 'Meaning'], Object.entries(OPERATOR_MEANINGS));
}

/** The failure table of the service. */
export function failuresTable(): Html {
  const rows = Object.entries(FAILURES).map(([code, { status, title, next }]) => [code, String(status), title, next]);
  return table(['Code', 'Status', 'Meaning', 'What to do'], rows);
}

/** One row of a table of fields; parts of objects follow their object. */
interface FieldRow {
  readonly name: string;
  readonly type: string;
  readonly access: string;
  readonly about: string;
  readonly values: readonly string[];
}

/** Every field of a record, those that are only written included, parts of objects as `phones[].number`. */
export function fieldRows(fields: Fields, prefix = ''): FieldRow[] {
  const emitted = emittedFields(fields);
  return Object.entries(fields).flatMap(([name, field]) => {
    const at = prefix + name;
    const row = {
      name: at,
      type: typeOf(field.kind),
      access: accessOf(field),
      about: field.about,
      values: field.kind.name === 'yesNo' ? [] : (field.kind.values ?? []),
    };
    const parts = field.kind.fields ?? field.kind.item?.fields;
    if (parts === undefined) return [row];
    const inside = fieldRows(parts, `${at}${field.kind.item === undefined ? '.' : '[].'}`);
    // Parts of a field that is read-only are too: saying so again for each adds nothing.
    const shown =
      field.access === 'readOnly' || !emitted.includes(name)
        ? inside.map((part) => ({ ...part, access: part.access === 'read‑only' ? '' : part.access }))
        : inside;
    return [row, ...shown];
  });
}

function accessOf({ access, required }: Field): string {
  switch (access) {
    case 'readOnly':
      return 'read‑only';
    case 'createOnly':
      return required ? 'required on create, then read‑only' : 'on create, then read‑only';
    case 'input':
      return 'required on create, never returned';
    case 'readWrite':
      return required ? 'required' : 'optional';
  }
}

const NAMES: Readonly<Record<string, string>> = {
  organizationLink: 'link to an organization',
  dateTime: 'date-time',
  yesNo: 'true or false',
  timeZone: 'time zone',
  timeOfDay: 'time of day',
  choice: 'listed value',
};

/** A kind of value in words: `text, 1–25 characters`, `list of links to PatientV1`. */
export function typeOf(kind: Kind): string {
  if (kind.name === 'link') return `link to ${kind.target ?? 'a record'}`;
  if (kind.name === 'list' && kind.item) return `list of ${typeOf(kind.item)}`;
  if (kind.name === 'map' && kind.item) return `map of ${typeOf(kind.item)}`;
  const { minLength, maxLength, minimum, maximum, exclusiveMinimum } = kind.schema;
  const unit = kind.schema.type === 'string' ? ' characters' : '';
  const range = rangeOf(minLength ?? minimum, maxLength ?? maximum, exclusiveMinimum, unit);
  const limits = kind.name === 'id' ? '' : range;
  return (NAMES[kind.name] ?? kind.name) + (limits && `, ${limits}`);
}

function rangeOf(min: unknown, max: unknown, above: unknown, unit: string): string {
  if (above !== undefined) return `more than ${above}`;
  if (min !== undefined && max !== undefined) return `${min}–${max}${unit}`;
  if (max !== undefined) return `at most ${max}${unit}`;
  return min === undefined ? '' : `at least ${min}${unit}`.replace('at least 1 characters', 'not empty');
}
