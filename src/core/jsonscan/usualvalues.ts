import { Code } from './codes.ts';
import { EXACT_DIGITS, isDigit, isInNumber, SPECIAL } from './jsonbytes.ts';

/** No place in a text. */
export const NONE = -1;

/** Where a text ends that stands as it is, without a comma; `NONE` for any other. */
export function textEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (SPECIAL[bytes[at] as number] === 0) at++;
  return bytes[at] === Code.quote ? at : NONE;
}

/** Where a number of digits alone ends that stands as it is; `NONE` for any other value. */
export function wholeEnd(bytes: Uint8Array, start: number): number {
  let at = start;
  while (isDigit(bytes[at])) at++;
  const digits = at - start;
  const isPlain = digits === 1 || (digits > 1 && digits <= EXACT_DIGITS && bytes[start] !== Code.zero);
  return isPlain && !isInNumber(bytes[at]) ? at : NONE;
}

/** The number in digits that are few enough to be exact; undefined for anything else. */
export function wholeNumber(bytes: Uint8Array, start: number, end: number): number | undefined {
  if (end - start > EXACT_DIGITS) return undefined;
  let number = 0;
  for (let at = start; at < end; at++) {
    if (!isDigit(bytes[at])) return undefined;
    number = number * 10 + (bytes[at] as number) - Code.zero;
  }
  return number;
}

/** Whether a value that begins so is an array or object. */
export function isNested(first: number | undefined): boolean {
  return first === Code.openObject || first === Code.openArray;
}
