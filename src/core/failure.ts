import { EXIT } from '../catalog/failures.ts';
import { FileHeld } from '../filesystem/held.ts';
import { codeOf } from '../filesystem/system.ts';
import { NotText } from '../text/decode.ts';

export { codeOf };

/** One problem: `source` names the field, filter key, flag, parameter, header or file at fault. */
export interface FailureItem {
  readonly code: string;
  readonly title?: string;
  readonly description: string;
  readonly source: string | null;
}

/** Failures of the client itself, besides the server's own (`FAILURES` of the catalog). */
export const LOCAL_FAILURES = {
  'usage.invalid': { exit: EXIT.usage, next: 'Run the command with --help to see what it takes.' },
  'usage.connection': {
    exit: EXIT.usage,
    next: 'Run molar login, or set MOLAR_URL, MOLAR_ORGANIZATION and MOLAR_TOKEN (or MOLAR_CLIENT_ID and MOLAR_CLIENT_SECRET).',
  },
  'usage.insecure': { exit: EXIT.usage, next: 'Use https://, or --allow-http if the network in between is yours.' },
  'network.unreachable': {
    exit: EXIT.network,
    next: 'Check the address, the network and the proxy settings, or run molar doctor, which checks them one by one.',
  },
  'network.certificate': {
    exit: EXIT.network,
    next: 'Run molar doctor, which shows who issued it. If a proxy of your organization inspects TLS, name its certificate with --ca-cert FILE or NODE_EXTRA_CA_CERTS.',
  },
  'network.outcome_unknown': {
    exit: EXIT.network,
    next: 'The server may have done it: check before you run it again.',
  },
  'response.malformed': { exit: EXIT.network, next: 'Check that the URL is that of the API; then run it again.' },
  'response.redirect': {
    exit: EXIT.network,
    next: 'If this is the web page where a guest Wi-Fi wants you to sign in, do so in a browser, then run it again. Otherwise give that address as --url if you trust it; molar sends no token to another address by itself.',
  },
  'pages.order': {
    exit: EXIT.network,
    next: 'The output is not complete. Run it again; report the request id to the operator of the server if it persists.',
  },
  'pages.incomplete': {
    exit: EXIT.network,
    next: 'The output is not complete. Run it again. If the count itself is wrong, --server-defaults skips the comparison; then request old records with a filter of your own (molar help paging).',
  },
  'stream.incomplete': {
    exit: EXIT.network,
    next: 'Nothing was written. Run it again; report the correlation id to the operator of the server if it persists.',
  },
  'stream.unavailable': {
    exit: EXIT.refused,
    next: 'Run it without --async.',
  },
  'stream.receiver': {
    exit: EXIT.network,
    next: 'Check the address and the log of the receiver, then run it again: with --name it resumes at this message.',
  },
  'stream.handler': {
    exit: EXIT.partial,
    next: 'Correct the command, then run it again: with --name it resumes at this message.',
  },
  'stream.broker': { exit: EXIT.network, next: 'Check --amqp, --exchange and what the account may do there.' },
  'query.sql': { exit: EXIT.usage, next: 'molar mirror tables lists the tables and their columns.' },
  'query.table': { exit: EXIT.notFound, next: 'molar mirror tables lists the tables and their columns.' },
  'query.unknown': { exit: EXIT.notFound, next: 'See molar help queries.' },
  'query.incomplete': { exit: EXIT.file, next: 'Run molar mirror sync, or add --partial to read what is there.' },
  'query.timeout': { exit: EXIT.throttled, next: 'Give it more time with --timeout, or let it read less.' },
  'mirror.missing': { exit: EXIT.notFound, next: 'Make one with molar mirror sync.' },
  'mirror.unusable': { exit: EXIT.file, next: 'Name a file or a database in which molar mirror sync has made one.' },
  'mirror.unreachable': {
    exit: EXIT.network,
    next: 'Check the address of the database, the network, and that it runs.',
  },
  'local.file': { exit: EXIT.file, next: 'Check the path, its permissions and the free space.' },
  'local.in_use': { exit: EXIT.file, next: 'Close the program that has the file open, then run the command again.' },
  'server.none': {
    exit: EXIT.notFound,
    next: 'Check --data: it must be the folder that molar serve was started with.',
  },
  'server.died': {
    exit: EXIT.network,
    next: 'What it had answered is stored. Its log may say why; molar server check looks for damage.',
  },
  'run.hung_up': { exit: EXIT.hungUp, next: 'Run the command again.' },
  'run.interrupted': { exit: EXIT.interrupted, next: 'Run the command again.' },
  'run.terminated': { exit: EXIT.terminated, next: 'Run the command again.' },
  'run.overtime': { exit: EXIT.throttled, next: 'Run it again with --resume, or give it more time.' },
  'run.partial': { exit: EXIT.partial, next: 'Run the failed items again.' },
  'run.unexpected': {
    exit: EXIT.unexpected,
    next: 'This is a defect of molar: please report it with the command used.',
  },
} as const satisfies Record<string, { exit: number; next: string }>;

/** A code of `LOCAL_FAILURES`. */
export type LocalFailureCode = keyof typeof LOCAL_FAILURES;

interface FailureFacts {
  readonly code: string;
  readonly exitCode: number;
  readonly status?: number | null;
  readonly requestId?: string | null;
  readonly items?: readonly FailureItem[];
  readonly hint?: string | null;
  readonly cause?: unknown;
}

/** Whatever ends a command: a stable code, the exit code of contract §4, and what helps the person who sees it. */
export class Failure extends Error {
  readonly code: string;
  readonly exitCode: number;
  readonly status: number | null;
  readonly requestId: string | null;
  readonly items: readonly FailureItem[];
  readonly hint: string | null;

  constructor(message: string, facts: FailureFacts) {
    super(message, { cause: facts.cause });
    this.name = 'Failure';
    this.code = facts.code;
    this.exitCode = facts.exitCode;
    this.status = facts.status ?? null;
    this.requestId = facts.requestId ?? null;
    this.items = facts.items ?? [];
    this.hint = facts.hint ?? null;
  }
}

/** A failure of the client, with exit code and next step from the table; `hint` replaces the next step. */
export function localFailure(
  code: LocalFailureCode,
  message: string,
  more: {
    readonly source?: string;
    readonly hint?: string | null;
    readonly requestId?: string | null;
    readonly cause?: unknown;
  } = {},
): Failure {
  const { exit, next } = LOCAL_FAILURES[code];
  const items = more.source === undefined ? [] : [{ code, description: message, source: more.source }];
  return new Failure(message, {
    code,
    exitCode: exit,
    items,
    hint: more.hint ?? next,
    requestId: more.requestId ?? null,
    cause: more.cause,
  });
}

/** Whether a signal caused it: an exit code of 128 plus the signal's number. */
export function isInterruption(cause: unknown): boolean {
  return cause instanceof Failure && cause.exitCode >= EXIT.hungUp;
}

/** The same failure with another message or next step. */
export function reworded(failure: Failure, words: { readonly message?: string; readonly hint?: string }): Failure {
  const { code, exitCode, status, requestId, items } = failure;
  const { message = failure.message, hint = failure.hint } = words;
  return new Failure(message, { code, exitCode, status, requestId, items, hint, cause: failure });
}

/** Wrong usage or local validation, exit 2: nothing has been sent. `source`: the flag or argument at fault. */
export function usageFailure(
  message: string,
  more: { readonly source?: string; readonly hint?: string } = {},
): Failure {
  return localFailure('usage.invalid', message, more);
}

/** A local file or disk failed, exit 9. `doing` completes "Cannot …": `write patients.csv`. */
export function fileFailure(doing: string, cause: unknown): Failure {
  const message = `Cannot ${doing}: ${reasonOf(cause)}.`;
  if (cause instanceof FileHeld) return localFailure('local.in_use', message, { hint: cause.next, cause });
  const hint = cause instanceof NotText ? { hint: cause.next } : {};
  return localFailure('local.file', message, { ...hint, cause });
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EBUSY: 'it is in use',
  EISDIR: 'it is a folder',
  ENOTDIR: 'a part of the path is not a folder',
  ENOSPC: 'no space left on the disk',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the file system is read-only',
  EEXIST: 'it already exists',
  ELOOP: 'too many symbolic links, or a link where a file was expected',
  ENAMETOOLONG: 'the name is too long',
  EMFILE: 'too many open files',
  EFBIG: 'the file is too large',
  ERR_INVALID_ARG_VALUE: 'its name has a NUL character',
  EIO: 'disk input/output error',
};

function reasonOf(cause: unknown): string {
  const code = codeOf(cause);
  if (code !== undefined && REASONS[code] !== undefined) return REASONS[code];
  return cause instanceof Error ? cause.message.replace(/\.$/, '') : String(cause);
}
