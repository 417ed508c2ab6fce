/** Bytes that a name may take, with room for what is put beside it while it is written; most file systems allow 255. */
const LONGEST = 240;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f/\\<>:"|?*\u2028\u2029]|\p{Format}|\p{Surrogate}/gu;

/** Names that Windows keeps for devices, whatever their extension and the spaces before it. */
const RESERVED = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?=\s*(?:\.|$))/i;

/**
 * A file name made of one that a server gave: nothing in it can leave the folder, hide the file, look like an option,
 * turn its text around or break another system's rules; at most 240 bytes, with the extension kept. `fallback` is taken
 * when nothing is left.
 */
export function safeFileName(name: string, fallback: string): string {
  const plain = name
    .replace(UNSAFE, '_')
    .normalize('NFC')
    .trim()
    .replace(/[. ]+$/, '')
    .replace(/^[.\-~]+/, (start) => '_'.repeat(start.length))
    .replace(RESERVED, '_$1');
  return /^_*$/.test(plain) ? fallback : shortened(plain);
}

/** The same name with a mark before its extension: `scan [7].pdf`. */
export function markedName(name: string, mark: string): string {
  const { base, extension } = split(name);
  return fitted(base, ` ${mark}${extension}`);
}

function shortened(name: string): string {
  const { base, extension } = split(name);
  return Buffer.byteLength(extension) < LONGEST / 2 ? fitted(base, extension) : fitted(name, '');
}

/** As much of the base as leaves room for the ending, cut between characters. */
function fitted(base: string, ending: string): string {
  const room = LONGEST - Buffer.byteLength(ending);
  if (Buffer.byteLength(base) <= room) return base + ending;
  let kept = '';
  let bytes = 0;
  for (const character of base) {
    bytes += Buffer.byteLength(character);
    if (bytes > room) break;
    kept += character;
  }
  return kept.replace(/[. ]+$/, '') + ending;
}

function split(name: string): { readonly base: string; readonly extension: string } {
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? { base: name, extension: '' } : { base: name.slice(0, dot), extension: name.slice(dot) };
}
