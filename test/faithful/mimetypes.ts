import type { Moods } from './moods.ts';

const EXTENSIONS: Readonly<Record<string, string>> = {
  PDF: 'pdf',
  JPEG: 'jpeg',
  PNG: 'png',
  GIF: 'gif',
  DOC: 'doc',
  DOCX: 'docx',
  PPT: 'ppt',
  PPTX: 'pptx',
  XLS: 'xls',
  XLSX: 'xlsx',
  MSG: 'msg',
};

const JPEG_ALIASES = ['JPG', 'JPE', 'JIF', 'JFIF', 'JFI'];

export const IMAGES: readonly string[] = ['JPEG', 'PNG', 'GIF'];

/** The supported type that a sent one means; undefined when it is not supported. */
export function normalizedType(sent: unknown): string | undefined {
  if (typeof sent !== 'string') return undefined;
  if (JPEG_ALIASES.includes(sent)) return 'JPEG';
  return sent in EXTENSIONS ? sent : undefined;
}

/** The lowercase extension of a type, without the dot. */
export function extensionOf(mimeType: string, { jpegExtension }: Pick<Moods, 'jpegExtension'>): string {
  return mimeType === 'JPEG' ? jpegExtension : (EXTENSIONS[mimeType] as string);
}

/** Whether a name ends in an extension of a type already. */
export function hasExtension(name: string, mimeType: string): boolean {
  const names = mimeType === 'JPEG' ? ['JPEG', ...JPEG_ALIASES] : [mimeType];
  return names.some((one) => name.toLowerCase().endsWith(`.${one.toLowerCase()}`));
}
