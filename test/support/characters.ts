import fc from 'fast-check';

const SURROGATES = 0xd800;
const SURROGATE_COUNT = 0x800;
const LAST = 0x10_ffff;

/** Any character: what `binary` of fast-check has, which takes a second in each process before it gives the first one. */
export const anyCharacter = fc.nat(LAST - SURROGATE_COUNT).map(
  (at) => String.fromCodePoint(at < SURROGATES ? at : at + SURROGATE_COUNT),
  (character) => {
    const point = typeof character === 'string' ? (character.codePointAt(0) ?? -1) : -1;
    if (point < 0 || String.fromCodePoint(point) !== character) throw new Error('This is not one character.');
    return point < SURROGATES ? point : point - SURROGATE_COUNT;
  },
);
