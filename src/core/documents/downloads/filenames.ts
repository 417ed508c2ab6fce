import { markedName, safeFileName } from './safename.ts';

/** Endings of files that a download keeps beside its own while it is on its way. */
const PART = /\.part(\.json)?$/i;

/**
 * Gives files their names in a folder, safe and each one once, whatever the letter case: of documents of the same name
 * all but the first get their id, in every run alike. What is not the original says what it is.
 */
export class FileNames {
  private readonly taken: Set<string>;
  private readonly variant: string;

  /** `taken`: names that stand for other documents already. */
  constructor(variant: string, taken: readonly string[]) {
    this.variant = variant;
    this.taken = new Set(taken.map(folded));
  }

  nameFor(id: number, storedName: string): string {
    const plain = fileNameOf(storedName, `document-${id}`);
    const wanted = this.variant === 'original' ? plain : markedName(plain, `(${this.variant})`);
    let name = wanted;
    // Each mark is another one, so that this ends even for a name that is cut to make room for it.
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
