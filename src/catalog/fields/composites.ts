import { MAX_PROBLEMS } from '../failures.ts';
import { readFields } from '../record.ts';
import type { Fields } from './kind.ts';
import { describe, fail, isPlainObject, type Kind, shown } from './kind.ts';
import { asId } from './numbers.ts';
import { line } from './text.ts';

export interface Link {
  readonly id: number;
}

/** A reference `{ id }` to a record of the same organization (specification, Response envelope). */
export function link(target: string, options: { readonly survives?: boolean } = {}): Kind<Link> {
  return {
    name: 'link',
    target,
    ...(options.survives && { survives: true }),
    parts: ['id'],
    schema: {
      type: 'object',
      properties: { id: { type: 'integer', format: 'int64', minimum: 1 } },
      required: ['id'],
      description: `Link to ${target}`,
    },
    read(input, at, context) {
      if (!isPlainObject(input) || !('id' in input)) {
        return fail(context, 'field.type', at, `${at} must be a link, written {"id": 5}.`);
      }
      const extra = Object.keys(input).find((key) => key !== 'id');
      if (extra !== undefined) {
        return fail(
          context,
          'body.unknown_property',
          `${at}.${shown(extra)}`,
          `${at} is a link and takes only id, not ${shown(extra)}.`,
        );
      }
      const value = asId(input.id);
      return value === undefined
        ? fail(context, 'field.type', `${at}.id`, `${at}.id must be a positive integer.`)
        : { id: value };
    },
    fromText: (flag) => ({ id: flag }),
  };
}

/** A reference to an organization, whose ids are opaque text (D1). */
export function organizationLink(): Kind<{ readonly id: string }> {
  return {
    name: 'organizationLink',
    parts: ['id'],
    schema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    read(input, at, context) {
      const value = isPlainObject(input) ? input.id : undefined;
      const name = typeof value === 'number' ? String(value) : value;
      if (typeof name !== 'string' || !isOrganizationId(name)) {
        return fail(context, 'field.type', at, `${at} must be a link to an organization, written {"id": "…"}.`);
      }
      return { id: name };
    },
    fromText: (flag) => ({ id: flag }),
  };
}

export function isOrganizationId(value: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(value);
}

/** A list of one kind; problems carry their place: `phones[1].number`. */
export function list<T>(item: Kind<T>): Kind<readonly T[]> {
  return {
    name: 'list',
    empty: [],
    item,
    schema: { type: 'array', items: item.schema },
    ...(item.target !== undefined && { target: item.target }),
    ...(item.values !== undefined && { values: item.values }),
    read(input, at, context) {
      if (!Array.isArray(input))
        return fail(context, 'field.type', at, `${at} must be an array, not ${describe(input)}.`);
      const values: (T | undefined)[] = [];
      for (const [index, entry] of input.entries()) {
        if (context.problems.length >= MAX_PROBLEMS) return undefined;
        values.push(item.read(entry, `${at}[${index}]`, context));
      }
      return values.includes(undefined) ? undefined : (values as T[]);
    },
    fromText: (flag) => (flag.trimStart().startsWith('[') ? json(flag) : [item.fromText(flag)]),
  };
}

/** An object with fields of its own. */
export function object<T extends object>(fields: Fields): Kind<T> {
  return {
    name: 'object',
    fields,
    schema: {
      type: 'object',
      properties: Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.kind.schema])),
    },
    read(input, at, context) {
      if (!isPlainObject(input))
        return fail(context, 'field.type', at, `${at} must be an object, not ${describe(input)}.`);
      const before = context.problems.length;
      const values = readFields(fields, input, context, `${at}.`);
      return context.problems.length > before ? undefined : (values as T);
    },
    fromText: json,
  };
}

const KEY = line();

/** A map from text keys to one kind, such as transactionTags `{"1": {id}}` (D24). */
export function map<T>(item: Kind<T>): Kind<Readonly<Record<string, T>>> {
  return {
    name: 'map',
    item,
    schema: { type: 'object', additionalProperties: item.schema },
    ...(item.target !== undefined && { target: item.target }),
    read(input, at, context) {
      if (!isPlainObject(input))
        return fail(context, 'field.type', at, `${at} must be an object, not ${describe(input)}.`);
      const entries = Object.entries(input).map(([key, entry]) => {
        const place = `${at}.${shown(key)}`;
        return [KEY.read(key, place, context), item.read(entry, place, context)] as const;
      });
      return entries.some(([key, value]) => key === undefined || value === undefined)
        ? undefined
        : (Object.fromEntries(entries) as Record<string, T>);
    },
    fromText: json,
  };
}

function json(flag: string): unknown {
  try {
    return JSON.parse(flag);
  } catch {
    return flag;
  }
}
