/** Maximum bytes of a name, leaving room for what is put beside it while it is written; most file systems allow 255. */
const MAX_NAME_BYTES = 240;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f/\\<>:"|?*\u2028\u2029]|\p{Format}|\p{Surrogate}/gu;

/** Names that Windows reserves for devices, whatever their extension and the spaces before it. */
const RESERVED = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?=\s*(?:\.|$))/i;

/** Endings of the files that a download puts beside its own while it is in progress. */
const PART = /\.part(\.json)?$/i;

/**
 * Gives files their names in a folder, safe and each one once, whatever the letter case: of documents of the same name
 * all but the first get their id, the same in every run. What is not the original says what it is.
 */
export class FileNames {
  private readonly taken: Set<string>;

  /** `taken`: names that belong to other documents already. */
  constructor(
    private readonly variant: string,
    taken: readonly string[],
  ) {
    this.taken = new Set(taken.map(folded));
  }

  nameFor(id: number, storedName: string): string {
    const plain = fileNameOf(storedName, `document-${id}`);
    const wanted = this.variant === 'original' ? plain : markedName(plain, `(${this.variant})`);
    let name = wanted;
    // Each mark differs, so that this ends even for a name that is cut to make room for it.
    for (let number = 1; this.taken.has(folded(name)); number++)
      name = markedName(wanted, number === 1 ? `[${id}]` : `[${id}-${number}]`);
    this.taken.add(folded(name));
    return name;
  }
}

/** Whether a name is one that `FileNames` gives. */
export function isFileName(name: string): boolean {
  return name !== '' && fileNameOf(name, '') === name;
}

function fileNameOf(name: string, fallback: string): string {
  const safe = safeFileName(name, fallback);
  return PART.test(safe) ? safeFileName(`${safe}_`, fallback) : safe;
}

/** Names that some file system takes for the same fold to the same text. */
function folded(name: string): string {
  return name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFC');
}

/**
 * A file name made of one that a server gave: nothing in it can leave the folder, hide the file, look like an option,
 * reverse its text or break another system's rules; at most 240 bytes, with the extension preserved. `fallback` is used
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
  if (/^_*$/.test(plain)) return fallback;
  const { base, extension } = split(plain);
  return Buffer.byteLength(extension) < MAX_NAME_BYTES / 2 ? fitted(base, extension) : fitted(plain, '');
}

/** The same name with a mark before its extension: `scan [7].pdf`. */
export function markedName(name: string, mark: string): string {
  const { base, extension } = split(name);
  return fitted(base, ` ${mark}${extension}`);
}

/** As much of the base as leaves room for the ending, cut between characters. */
function fitted(base: string, ending: string): string {
  const room = MAX_NAME_BYTES - Buffer.byteLength(ending);
  if (Buffer.byteLength(base) <= room) return base + ending;
  let start = '';
  let bytes = 0;
  for (const character of base) {
    bytes += Buffer.byteLength(character);
    if (bytes > room) break;
    start += character;
  }
  return start.replace(/[. ]+$/, '') + ending;
}

function split(name: string): { readonly base: string; readonly extension: string } {
  const dot = name.lastIndexOf('.');
  return dot <= 0 ? { base: name, extension: '' } : { base: name.slice(0, dot), extension: name.slice(dot) };
}
