const UNITS: readonly (readonly [name: string, milliseconds: number])[] = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];

/** A span of time in words, in the largest unit of which there are two or more: `90 minutes`, `3 days`, `5 seconds`. */
export function spanText(milliseconds: number): string {
  const unit = UNITS.find(([, size]) => milliseconds >= 2 * size);
  const [name, size] = unit ?? ['second', 1000];
  const count = Math.max(0, Math.floor(milliseconds / size));
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

/** UTC milliseconds as `2026-11-21 20:25 UTC`. */
export function momentText(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
