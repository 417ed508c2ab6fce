import { type Call, descriptorOf, numbersBehind, pathOf, readCalls, stringsOf } from './strace.ts';

/** An open file: a descriptor of a process. */
export type Handle = string;

/** What happens to a disk, in the order in which it happened, and what is told meanwhile. Paths are absolute. */
export type Step =
  | { readonly does: 'open'; readonly handle: Handle; readonly path: string; readonly flags: ReadonlySet<string> }
  | { readonly does: 'duplicate'; readonly handle: Handle; readonly to: Handle }
  | { readonly does: 'seek'; readonly handle: Handle; readonly to: number }
  /** Without `at` where the file is, or at its end when it was opened to append. */
  | { readonly does: 'write'; readonly handle: Handle; readonly bytes: Buffer; readonly at?: number }
  | {
      readonly does: 'copy';
      readonly from: Handle;
      readonly fromAt?: number;
      readonly to: Handle;
      readonly at?: number;
      readonly size: number;
    }
  | { readonly does: 'resize'; readonly handle: Handle; readonly size: number }
  | { readonly does: 'make folder'; readonly path: string }
  | { readonly does: 'rename' | 'link'; readonly path: string; readonly to: string }
  | { readonly does: 'remove'; readonly path: string }
  /** A sync makes last what was written before it began, once it has ended. */
  | { readonly does: 'begin sync' | 'end sync'; readonly handle: Handle; readonly number: number }
  | { readonly does: 'tell'; readonly to: 'output' | 'errors' | 'network' | 'exit'; readonly text: string };

/** What a process did, as recorded by `startRecorded` in a folder. */
export async function readSteps(log: string, folder: string): Promise<Step[]> {
  const steps: Step[] = [];
  let main: number | undefined;
  for await (const call of readCalls(log)) {
    main ??= call.process;
    const step = call.at === 'begin' ? begun(call, main, folder) : ended(call, folder);
    if (step !== undefined) steps.push(step);
  }
  return steps;
}

/** Pipes, terminals, sockets and files elsewhere are no part of the disk. */
const isElsewhere = ({ args }: Call, folder: string) => !descriptorOf(args).what.startsWith(folder);

const handleOf = ({ process, args }: Call, index = 0): Handle => `${process}:${descriptorOf(args, index).number}`;

/** What counts from its beginning: a word is out before the call that tells it has ended. */
function begun(call: Call, main: number, folder: string): Step | undefined {
  const { name, args, number, process } = call;
  if (name === 'fsync' || name === 'fdatasync')
    return isElsewhere(call, folder) ? undefined : { does: 'begin sync', handle: handleOf(call), number };
  if (name === 'exit_group')
    return process === main ? { does: 'tell', to: 'exit', text: args.replace(')', '').trim() } : undefined;
  if (!['write', 'writev', 'sendto', 'sendmsg'].includes(name)) return undefined;
  const { number: descriptor, what } = descriptorOf(args);
  const text = () => Buffer.concat(stringsOf(args)).toString('latin1');
  if (what.startsWith('TCP')) return { does: 'tell', to: 'network', text: text() };
  if (process !== main) return undefined;
  if (descriptor === 1) return { does: 'tell', to: 'output', text: text() };
  if (descriptor === 2) return { does: 'tell', to: 'errors', text: text() };
  return undefined;
}

/** What counts once it is done. Throws for a call whose effect on a disk is not known here. */
function ended(call: Call, folder: string): Step | undefined {
  const { name, args, result = -1, process } = call;
  if (result < 0) return undefined;
  const path = (index = 0) => pathOf(args, folder, index);
  const handle = handleOf(call);
  if (
    ['lseek', 'write', 'writev', 'pwrite64', 'pwritev', 'ftruncate', 'fsync', 'fdatasync'].includes(name) &&
    isElsewhere(call, folder)
  )
    return undefined;
  switch (name) {
    case 'open':
    case 'openat':
      return { does: 'open', handle: `${process}:${result}`, path: path(), flags: flagsOf(args) };
    case 'creat':
      return { does: 'open', handle: `${process}:${result}`, path: path(), flags: new Set(['O_CREAT', 'O_TRUNC']) };
    case 'dup':
    case 'dup2':
    case 'dup3':
      return { does: 'duplicate', handle, to: `${process}:${result}` };
    case 'lseek':
      return { does: 'seek', handle, to: result };
    case 'write':
    case 'writev':
      return { does: 'write', handle, bytes: Buffer.concat(stringsOf(args)).subarray(0, result) };
    case 'pwrite64':
    case 'pwritev':
      return {
        does: 'write',
        handle,
        bytes: Buffer.concat(stringsOf(args)).subarray(0, result),
        at: numbersBehind(args).at(-1) ?? Number.NaN,
      };
    case 'ftruncate':
      return { does: 'resize', handle, size: Number(/, (\d+)$/.exec(args.trim())?.[1]) };
    case 'sendfile':
      return {
        does: 'copy',
        from: handleOf(call, 1),
        to: handle,
        size: result,
        ...placed('fromAt', offsetsOf(args)[0]),
      };
    case 'ioctl':
      // Of a file system whose files can share bytes: the whole file at once.
      if (!/FICLONE\b|BTRFS_IOC_CLONE\b/.test(args)) return undefined;
      return { does: 'copy', from: handleOf(call, 1), fromAt: 0, to: handle, at: 0, size: Number.MAX_SAFE_INTEGER };
    case 'copy_file_range': {
      const [fromAt, at] = offsetsOf(args);
      const to = handleOf(call, 1);
      return { does: 'copy', from: handle, to, size: result, ...placed('fromAt', fromAt), ...placed('at', at) };
    }
    case 'mkdir':
    case 'mkdirat':
      return { does: 'make folder', path: path() };
    case 'rename':
    case 'renameat':
    case 'renameat2':
      return { does: 'rename', path: path(), to: path(1) };
    case 'link':
    case 'linkat':
      return { does: 'link', path: path(), to: path(1) };
    case 'unlink':
    case 'unlinkat':
    case 'rmdir':
      return { does: 'remove', path: path() };
    case 'fsync':
    case 'fdatasync':
      return { does: 'end sync', handle, number: call.number };
    // They write nowhere, or nothing that a sync does not have to follow.
    case 'clone':
    case 'clone3':
    case 'fork':
    case 'vfork':
    case 'sendto':
    case 'sendmsg':
    case 'sync_file_range':
    case 'exit_group':
      return undefined;
    default:
      throw new Error(`What ${name} does to a disk is not recorded: ${args.slice(0, 200)}`);
  }
}

/** Offsets among arguments that are pointers, undefined for none: then the file's own position counts. */
function offsetsOf(args: string): (number | undefined)[] {
  return [...args.matchAll(/, (?:NULL|\[(\d+)\])/g)].map(([, text]) => (text === undefined ? undefined : Number(text)));
}

function placed<Name extends string>(name: Name, at: number | undefined): Partial<Record<Name, number>> {
  return at === undefined ? {} : ({ [name]: at } as Record<Name, number>);
}

function flagsOf(args: string): ReadonlySet<string> {
  return new Set(args.slice(args.lastIndexOf('"')).match(/O_\w+/g) ?? []);
}
