/** Whether a file or folder belongs to whoever runs the server, root included; always so where files have no owner. */
export function isOurs({ uid }: { readonly uid: number }): boolean {
  return process.geteuid === undefined || uid === process.geteuid();
}
