/** Whether a text can be the name of something that is kept between runs: a profile, a bookmark, a listener. */
export function isKeptName(text: string): boolean {
  return /^[A-Za-z0-9][\w.-]{0,63}$/.test(text);
}
