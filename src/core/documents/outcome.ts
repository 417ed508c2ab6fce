import { EXIT } from '../../catalog/failures.ts';

/**
 * Exit code of a run over several items: 0 when all are done, the code of the cause when none is done and all failed for
 * one, 6 otherwise (contract §2).
 */
export function exitCodeOfRun(codes: readonly number[]): number {
  const [first, ...others] = new Set(codes);
  if (first === undefined) return EXIT.done;
  return others.length === 0 ? first : EXIT.partial;
}

/** A failure's message for a line that names the file already. */
export function reasonFor(file: string, message: string): string {
  return message.startsWith(`${file}: `) ? message.slice(file.length + 2) : message;
}
