import type { Connection } from '../../sqlite/open.ts';

const NAME = '(\\w+)';

/** `PRAGMA name`, `PRAGMA schema.name`, `PRAGMA name(argument)`; an argument after an equals sign sets something. */
const PRAGMA = new RegExp(
  `^\\s*PRAGMA\\s+(?:${NAME}\\s*\\.\\s*)?${NAME}\\s*(?:\\(\\s*(?:'([^']*)'|"([^"]*)"|([+-]?[\\w.]+))\\s*\\))?\\s*;?\\s*$`,
  'i',
);

/**
 * A query that tells what a PRAGMA tells, through the table-valued function of its name: the engine has one only for
 * those without side effects, and takes an argument only where it asks for something. Undefined where there is none.
 */
export function pragmaQuery(connection: Connection, sql: string): string | undefined {
  const [, schema, name = '', ...values] = PRAGMA.exec(sql) ?? [];
  if (name === '') return undefined;
  const argument = values.find((value) => value !== undefined);
  const conditions = [
    ...(argument === undefined ? [] : [`arg = ${literal(argument)}`]),
    ...(schema === undefined ? [] : [`schema = ${literal(schema)}`]),
  ];
  const query = `SELECT * FROM pragma_${name}${conditions.length > 0 ? ` WHERE ${conditions.join(' AND ')}` : ''}`;
  try {
    connection.prepare(query);
    return query;
  } catch {
    return undefined;
  }
}

function literal(text: string): string {
  if (/^[+-]?\d+$/.test(text)) return text;
  return `'${text.replaceAll("'", "''")}'`;
}
