/** Whether a text can be the name of something that is saved between runs: a profile, a bookmark, a listener. */
export function isSavedName(text: string): boolean {
  return /^[A-Za-z0-9][\w.-]{0,63}$/.test(text);
}
