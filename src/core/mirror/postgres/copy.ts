import type { Client, Submittable } from 'pg';
import type { Target } from '../sql/database.ts';
import type { StoredValue } from '../values.ts';
import { postgresText } from './values.ts';

/** What the driver's types leave out of its connection. */
interface CopyConnection {
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
}

/** Characters that are sent together: the database reads them while the next ones are made. */
const CHUNK = 65_536;

/** Sends lines, each made when it is due, with `COPY … FROM STDIN`. Rejects with what the driver gives, or a line throws. */
export function copyIn(client: Client, statement: string, lines: Iterable<string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const none = () => undefined;
    const query = {
      submit: (connection: unknown) => (connection as CopyConnection).query(statement),
      handleCopyInResponse: (connection: CopyConnection) => {
        try {
          for (const chunk of chunksOf(lines)) connection.sendCopyFromChunk(Buffer.from(chunk));
          connection.endCopyFrom();
        } catch (cause) {
          reject(cause);
          connection.sendCopyFail('A row cannot be made.');
        }
      },
      handleError: reject,
      handleReadyForQuery: () => resolve(),
      ...{ handleCommandComplete: none, handleRowDescription: none, handleDataRow: none },
      callback: none,
    };
    client.query(query as unknown as Submittable);
  });
}

function* chunksOf(lines: Iterable<string>): Generator<string> {
  let chunk = '';
  for (const line of lines) {
    chunk += line;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}

/** Characters that mean something in the text format of COPY. */
const MEANS = /[\\\n\r\t]/;
const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Rows in the text format of COPY, a line each. */
export function* copyLines(columns: readonly Target[], rows: Iterable<readonly StoredValue[]>): Generator<string> {
  for (const row of rows) yield copyLine(columns, row);
}

function copyLine(columns: readonly Target[], row: readonly StoredValue[]): string {
  let line = '';
  for (let index = 0; index < columns.length; index++) {
    const text = postgresText((columns[index] as Target).type, row[index] ?? null);
    if (index > 0) line += '\t';
    if (text === null) line += '\\N';
    else line += MEANS.test(text) ? text.replace(/[\\\n\r\t]/g, (sign) => ESCAPED[sign] as string) : text;
  }
  return `${line}\n`;
}
