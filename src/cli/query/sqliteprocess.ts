import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { untilAborted } from '../../core/abort.ts';
import type { Environment } from '../../core/environment.ts';
import { QueryFault } from '../../core/query/fault.ts';
import type { QueryResult } from '../../core/query/result.ts';
import type { Statement } from '../../core/query/sqlitequery.ts';
import { type ReaderReply, type ReaderRequest, SqliteReader } from '../../core/query/sqlitereader.ts';

/** Answers requests, one after another. */
interface Reader {
  readonly ask: (request: ReaderRequest) => Promise<ReaderReply>;
  readonly close: () => void;
}

/**
 * Opens a query of a mirror in SQLite, in a process of its own: nothing but its end stops the driver in the middle of a
 * row. Throws a QueryFault, and the reason of the signal when it aborts.
 */
export async function openSqliteQuery(
  file: string,
  statement: Statement,
  { env, signal }: { readonly env: Environment; readonly signal: AbortSignal },
): Promise<QueryResult> {
  const reader = openReader(env);
  const ask = async (request: ReaderRequest): Promise<Exclude<ReaderReply, { fault: unknown }>> => {
    try {
      const reply = await untilAborted(reader.ask(request), signal);
      if ('fault' in reply) throw new QueryFault(reply.fault);
      return reply;
    } catch (cause) {
      reader.close();
      throw cause;
    }
  };
  const opened = await ask({ file, statement });
  return {
    names: 'names' in opened ? opened.names : [],
    next: async (most) => {
      const reply = await ask({ rows: most });
      return 'rows' in reply ? reply.rows : [];
    },
    close: async () => reader.close(),
  };
}

function openReader(env: Environment): Reader {
  // Run from the sources, as tests are, there is no file that a process could load.
  if (!import.meta.url.endsWith('.ts')) return new ReaderProcess(env);
  const reader = new SqliteReader();
  return { ask: async (request) => reader.answer(request), close: () => undefined };
}

/** What it needs of the environment: where to put what is too much for the memory. Secrets it has no use for. */
const KEPT = ['TMPDIR', 'SQLITE_TMPDIR', 'TEMP', 'TMP', 'SystemRoot'];

/**
 * Signals that a terminal, or a service manager, sends to this process as well, which then says how the command ended; and
 * the milliseconds in which it gets them.
 */
const SENT_TO_BOTH: ReadonlySet<NodeJS.Signals | null> = new Set(['SIGINT', 'SIGTERM', 'SIGHUP']);
const OWN_SIGNAL_MS = 5000;

class ReaderProcess implements Reader {
  private readonly child: ChildProcess;
  private ending: NodeJS.Timeout | undefined;
  private settle:
    | { readonly resolve: (reply: ReaderReply) => void; readonly reject: (cause: Error) => void }
    | undefined;

  constructor(env: Environment) {
    const kept = Object.fromEntries(KEPT.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
    this.child = fork(fileURLToPath(new URL('./sqlitechild.js', import.meta.url)), {
      env: kept,
      execArgv: [],
      serialization: 'advanced',
      stdio: 'ignore',
    });
    this.child.on('message', (reply: ReaderReply) => this.settle?.resolve(reply));
    this.child.on('error', (cause) => this.settle?.reject(cause));
    this.child.on('exit', (code, signal) => {
      const ended = new Error(`The process that reads the mirror has ended (${signal ?? code}).`);
      this.ending = setTimeout(() => this.settle?.reject(ended), SENT_TO_BOTH.has(signal) ? OWN_SIGNAL_MS : 0);
    });
  }

  ask(request: ReaderRequest): Promise<ReaderReply> {
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
      this.child.send(request, (cause) => cause && reject(cause));
    });
  }

  close(): void {
    clearTimeout(this.ending);
    // It reads only: there is nothing that it could leave half done.
    this.child.kill('SIGKILL');
  }
}
