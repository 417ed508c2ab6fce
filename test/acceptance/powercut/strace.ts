import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { cleanEnv, RUN } from '../molar.ts';

/*
 * What a process asked of the system, as strace writes it down: libraries with native code, such as SQLite, are seen as well
 * as Node. Strings are in hexadecimal, so that a line is read without knowing what is in them.
 */

/** Everything by which bytes or names come to a disk or leave the process, and what it takes to follow descriptors. */
const TRACED = [
  ...['open', 'openat', 'creat', 'dup', 'dup2', 'dup3', 'lseek', 'write', 'pwrite64', 'writev', 'pwritev', 'pwritev2'],
  ...[
    'ftruncate',
    'truncate',
    'fallocate',
    'copy_file_range',
    'ioctl',
    'sendfile',
    'splice',
    'msync',
    'io_uring_enter',
  ],
  ...['rename', 'renameat', 'renameat2', 'link', 'linkat', 'symlink', 'symlinkat', 'unlink', 'unlinkat'],
  ...['mkdir', 'mkdirat', 'rmdir', 'fsync', 'fdatasync', 'sync', 'syncfs', 'sync_file_range', 'sendto', 'sendmsg'],
  ...['clone', 'clone3', 'fork', 'vfork', 'exit_group'],
].join(',');

/** Longest string, in bytes, that strace writes down; a longer one fails the recording. */
const LONGEST = 32 * 1024 * 1024;

/** Skips tests where nothing can be recorded, and says so; in CI that is a failure. */
export function needRecorder(context: { skip(reason: string): never }): void {
  const problem = recorderProblem();
  if (problem === undefined) return;
  if (process.env.CI === 'true') throw new Error(`CI needs to record system calls: ${problem}.`);
  context.skip(problem);
}

function recorderProblem(): string | undefined {
  if (process.platform !== 'linux') return 'system calls are recorded on Linux only';
  const tried = spawnSync('strace', ['-f', '--seccomp-bpf', '-yy', '-e', 'trace=fsync', 'true'], { encoding: 'utf8' });
  if (tried.error !== undefined) return 'strace is not installed';
  return tried.status === 0 ? undefined : `strace does not work here (${tried.stderr.trim().split('\n').at(-1)})`;
}

/** Starts bin/run.js in a folder; what it and its children ask of the system is written to `log`. */
export function startRecorded(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  log: string,
): ChildProcess {
  const strace = ['-f', '--seccomp-bpf', '-yy', '-xx', '-s', String(LONGEST), '-o', log, '-e', `trace=${TRACED}`];
  return spawn('strace', [...strace, process.execPath, RUN, ...args], {
    cwd: folder,
    // Where io_uring writes for libuv, no call is to be seen.
    env: { ...cleanEnv(env), UV_USE_IO_URING: '0' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** A call of the system: once where it begins, and once where it has ended. */
export interface Call {
  /** The process, whose threads share descriptors. */
  readonly process: number;
  readonly name: string;
  readonly at: 'begin' | 'end';
  /** The same for begin and end. */
  readonly number: number;
  /** Arguments as strace writes them. */
  readonly args: string;
  /** Undefined at the beginning, and for what never returns; below zero for a failure. */
  readonly result?: number;
}

const LINE = /^(\d+)\s+(?:<\.\.\. \w+ resumed>(.*)|(\w+)\((.*))$/s;
const UNFINISHED = ' <unfinished ...>';

/** Reads what strace wrote, in the order in which it happened. */
export async function* readCalls(log: string): AsyncGenerator<Call> {
  const processes = new Map<number, number>();
  const unfinished = new Map<number, Omit<Call, 'at' | 'result'>>();
  let number = 0;
  for await (const line of createInterface({ input: createReadStream(log), crlfDelay: Number.POSITIVE_INFINITY })) {
    const [, thread, resumed, name, rest] = LINE.exec(line) ?? [];
    if (thread === undefined) continue;
    const process = processes.get(Number(thread)) ?? Number(thread);
    let call = unfinished.get(Number(thread));
    let end: string;
    if (resumed !== undefined) {
      if (call === undefined) throw new Error(`strace resumes what it did not begin: ${line.slice(0, 200)}`);
      unfinished.delete(Number(thread));
      end = resumed;
    } else {
      end = rest ?? '';
      const isWhole = !end.endsWith(UNFINISHED);
      call = {
        process,
        name: name ?? '',
        number: number++,
        args: isWhole ? argsOf(end) : end.slice(0, -UNFINISHED.length),
      };
      if (/"\.\.\./.test(call.args)) throw new Error(`strace cut a string: ${line.slice(0, 200)}`);
      yield { ...call, at: 'begin' };
      if (!isWhole) {
        unfinished.set(Number(thread), call);
        continue;
      }
    }
    const result = resultOf(end);
    if (/^v?fork$|^clone/.test(call.name) && result !== undefined && result > 0)
      processes.set(result, /CLONE_THREAD/.test(call.args) ? call.process : result);
    yield { ...call, at: 'end', ...(result !== undefined && { result }) };
  }
}

/** Without `) = RESULT`. */
function argsOf(text: string): string {
  return text.slice(0, Math.max(text.lastIndexOf(')'), 0));
}

function resultOf(text: string): number | undefined {
  const result = /\)\s+= (-?\d+)/.exec(text.slice(text.lastIndexOf(')')))?.[1];
  // What belongs to a descriptor may have a bracket itself: then the last one that an equals sign follows.
  const found = result ?? /.*\)\s+= (-?\d+)/s.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** The strings among arguments, as the bytes they are. */
export function stringsOf(args: string): Buffer[] {
  return [...args.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g)].map(([, hex = '']) => fromHex(hex));
}

/** The numbers behind the last string among arguments. */
export function numbersBehind(args: string): number[] {
  return [...args.slice(args.lastIndexOf('"') + 1).matchAll(/(?<=, )(-?\d+)\b/g)].map(([text]) => Number(text));
}

/** A descriptor among arguments, the first one unless told, and what strace says that it is open on. */
export function descriptorOf(args: string, index = 0): { readonly number: number; readonly what: string } {
  const found = [...args.matchAll(/(?:^|, )(-?\d+|AT_FDCWD)(?:<((?:[^"<>]|->)*)>)?(?=, |$)/g)][index];
  return { number: Number(found?.[1] ?? Number.NaN), what: plain(found?.[2] ?? '') };
}

/** Where the name among arguments leads that follows so many others; `folder`: what the process works in. */
export function pathOf(args: string, folder: string, index = 0): string {
  const name = stringsOf(args)[index]?.toString() ?? '';
  const before = [...args.matchAll(/(?:-?\d+|AT_FDCWD)<((?:[^"<>]|->)*)>, "/g)][index]?.[1];
  return resolve(before === undefined ? folder : plain(before), name);
}

/** What strace writes in hexadecimal as it was; what it writes in words stays. */
function plain(text: string): string {
  return text.replaceAll(/(?:\\x[0-9a-f]{2})+/g, (hex) => fromHex(hex).toString());
}

function fromHex(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\x', ''), 'hex');
}
