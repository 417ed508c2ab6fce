import { EXIT } from '../../catalog/failures.ts';

/** Exit code of a run (contract §2): 0 when all are done, that of the cause when all failed for one, otherwise 6. */
export function exitCodeOfRun(codes: readonly number[]): number {
  const [first, ...others] = new Set(codes);
  if (first === undefined) return EXIT.done;
  return others.length === 0 ? first : EXIT.partial;
}

/** A failure's message for a line that names the file already. */
export function reasonFor(file: string, message: string): string {
  return message.startsWith(`${file}: `) ? message.slice(file.length + 2) : message;
}
