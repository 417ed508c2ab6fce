import type { Kind } from '../../catalog/fields/kind.ts';
import { emittedFields, type Field, type Fields } from '../../catalog/record.ts';

/** One row of a table of fields; parts of objects follow their object. */
export interface FieldRow {
  readonly name: string;
  readonly type: string;
  readonly access: string;
  readonly about: string;
  readonly values: readonly string[];
}

/** Every field of a record, those that only come in included, parts of objects as `phones[].number`. */
export function fieldRows(fields: Fields, prefix = ''): FieldRow[] {
  const answered = emittedFields(fields);
  return Object.entries(fields).flatMap(([name, field]) => {
    const at = prefix + name;
    const row = {
      name: at,
      type: typeOf(field.kind),
      access: accessOf(field),
      about: field.about,
      values: valuesOf(field.kind),
    };
    const parts = partsOf(field.kind);
    if (parts === undefined) return [row];
    const inside = fieldRows(parts, `${at}${field.kind.item === undefined ? '.' : '[].'}`);
    // Parts of a field that is read-only are too: saying so again for each adds nothing.
    const shown =
      field.access === 'readOnly' || !answered.includes(name)
        ? inside.map((part) => ({ ...part, access: part.access === 'read‑only' ? '' : part.access }))
        : inside;
    return [row, ...shown];
  });
}

function partsOf(kind: Kind): Fields | undefined {
  return kind.fields ?? kind.item?.fields;
}

function accessOf({ access, required }: Field): string {
  switch (access) {
    case 'readOnly':
      return 'read‑only';
    case 'createOnly':
      return required ? 'required on create, then read‑only' : 'on create, then read‑only';
    case 'input':
      return 'required on create, never answered';
    case 'readWrite':
      return required ? 'required' : 'optional';
  }
}

function valuesOf(kind: Kind): readonly string[] {
  if (kind.name === 'yesNo') return [];
  return kind.values ?? [];
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
  const limits =
    kind.name === 'id'
      ? ''
      : range(
          minLength ?? minimum,
          maxLength ?? maximum,
          exclusiveMinimum,
          kind.schema.type === 'string' ? ' characters' : '',
        );
  return (NAMES[kind.name] ?? kind.name) + (limits && `, ${limits}`);
}

function range(min: unknown, max: unknown, above: unknown, unit: string): string {
  if (above !== undefined) return `more than ${above}`;
  if (min !== undefined && max !== undefined) return `${min}–${max}${unit}`;
  if (max !== undefined) return `at most ${max}${unit}`;
  return min === undefined ? '' : `at least ${min}${unit}`.replace('at least 1 characters', 'not empty');
}
