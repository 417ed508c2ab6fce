import { EXIT, FAILURES, type Problem, Refusal } from '../../catalog/failures.ts';
import { codeOf, Failure, fileFailure, localFailure } from '../../core/failure.ts';
import { PLAIN, type Style } from '../../core/output/style.ts';
import { terminalJson, terminalLines, terminalMessage } from '../../core/output/terminaltext.ts';

/** Any thrown value as the failure that is reported; local refusals by the catalog are usage errors (exit 2). */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof Refusal) return refusedLocally(error);
  if (isSystemError(error)) return fileFailure('finish', error);
  if (isTooDeep(error)) {
    return localFailure('response.malformed', 'The server sent a value that is nested too deeply to be written.', {
      cause: error,
    });
  }
  return localFailure(
    'run.unexpected',
    error instanceof Error ? `${error.name}: ${error.message}` : 'Something failed.',
    {
      cause: error,
    },
  );
}

function refusedLocally(refusal: Refusal): Failure {
  const [first, ...rest] = refusal.problems;
  const message = rest.length === 0 ? first?.description : problemsText(refusal.problems);
  const code = first?.code ?? 'request.malformed';
  return new Failure(message ?? refusal.message, {
    code,
    exitCode: EXIT.usage,
    items: refusal.problems,
    hint: FAILURES[code].next,
    cause: refusal,
  });
}

function problemsText(problems: readonly Problem[]): string {
  const missing = problems.every(({ code }) => code.endsWith('.missing'));
  return `${problems.length} values are ${missing ? 'missing' : 'not right'}.`;
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && codeOf(error) !== undefined;
}

/** Only data of the server is read to its full depth: counting the depth beforehand would slow down every page. */
function isTooDeep(error: unknown): boolean {
  return error instanceof RangeError && error.message.startsWith('Maximum call stack');
}

/** The failure as the one JSON object of contract §4, on one line and safe on a terminal; with the buffered notes as `notes`. */
export function failureJson(failure: Failure, notes: readonly string[] = []): string {
  const { code, message, exitCode, status, requestId, items, hint } = failure;
  const error = { code, message, exitCode, status, requestId, errors: items, hint };
  return `${terminalJson(JSON.stringify({ error: notes.length === 0 ? error : { ...error, notes } }))}\n`;
}

/** The failure for people: the cause, each source at fault, the request id and a next step. */
export function failureText(failure: Failure, style: Style = PLAIN): string {
  const lines = [
    `${style('bad', 'Error:')} ${terminalMessage(failure.message)}`,
    ...itemLines(failure).map((line) => `  ${terminalMessage(line)}`),
  ];
  if (failure.requestId !== null) lines.push(style('faint', `Request: ${terminalMessage(failure.requestId)}`));
  if (failure.hint !== null) lines.push(`${style('mark', 'Next:')} ${terminalMessage(failure.hint)}`);
  return `${lines.join('\n')}\n`;
}

/** The stack of an unexpected failure and its causes, for `--verbose`. */
export function failureStack(failure: Failure): string {
  const stacks: string[] = [];
  for (let error: unknown = failure; error instanceof Error; error = error.cause)
    stacks.push(error.stack ?? error.message);
  return `${terminalLines(stacks.join('\n'))}\n`;
}

/** Maximum items shown to people: thousands would push the cause out of sight. */
const MAX_ITEMS = 100;

/** What is at fault: its name where the cause says the rest, else its name and what is wrong with it. */
function itemLines({ message, items }: Failure): string[] {
  const lines = items.flatMap(({ source, description }) => {
    if (!message.includes(description)) {
      return [source === null || description.includes(source) ? description : `${source}: ${description}`];
    }
    return source === null || message.includes(source) ? [] : [`at ${source}`];
  });
  if (lines.length <= MAX_ITEMS) return lines;
  return [...lines.slice(0, MAX_ITEMS), `… and ${lines.length - MAX_ITEMS} more; --json lists all.`];
}
