import type { Fields, Kind } from '../../catalog/fields/kind.ts';
import { memberTexts, objectText } from '../mirror/jsonmembers.ts';
import { pageTexts } from '../mirror/recordtexts.ts';

/**
 * A record with its members in the order of the catalog, and those of its objects and lists too: `jsonb` has an order of its
 * own. Members that the catalog does not know come last. JSON without blanks.
 */
export function inOrder(record: string, fields: Fields): string {
  const members = memberTexts(record);
  if (members === undefined) return record;
  const known = Object.keys(fields).filter((name) => members.has(name));
  const others = [...members.keys()].filter((name) => !Object.hasOwn(fields, name));
  return objectText(
    [...known, ...others].map((name) => {
      const member = members.get(name) ?? '';
      const kind = fields[name]?.kind;
      const start = JSON.stringify(name).length + 1;
      return kind === undefined ? member : member.slice(0, start) + valueInOrder(member.slice(start), kind);
    }),
  );
}

function valueInOrder(value: string, { fields, item }: Kind): string {
  if (fields !== undefined && value.startsWith('{')) return inOrder(value, fields);
  const within = item?.fields;
  if (within === undefined || !value.startsWith('[')) return value;
  const entries = pageTexts(Buffer.from(`{"data":${value}}`))?.records;
  return entries === undefined ? value : `[${entries.map((entry) => inOrder(entry, within)).join(',')}]`;
}
