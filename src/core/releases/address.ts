import type { Environment } from '../environment.ts';
import { localFailure, usageFailure } from '../failure.ts';
import { configPath, readConfig } from '../profiles/config.ts';
import { isLoopback } from '../transport/address.ts';

const FORM = 'an https:// address without a query, made of letters, digits and ./:~%@+=-';

/** What an address of releases must be, completing "… must be …"; undefined when it is right. */
export function wrongReleases(text: string): string | undefined {
  // It is shown as part of command lines, in which no shell may find anything of its own.
  if (!URL.canParse(text) || !/^[\w./:~%@+=[\]-]+$/.test(text)) return FORM;
  const { protocol, hostname, username, password } = new URL(text);
  const isPrivate = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  return isPrivate && username === '' && password === '' ? undefined : FORM;
}

/**
 * Where releases are published: `MOLAR_RELEASES`, or the config key `releases`; without a slash at the end. Throws a
 * Failure (exit 2) where neither is set, or it is no such address.
 */
export function releasesAddress(env: Environment): string {
  const text = env.MOLAR_RELEASES || readConfig(configPath(env)).defaults.releases;
  if (text === undefined) {
    throw localFailure('usage.connection', 'It is not known where releases of molar are published.', {
      source: 'MOLAR_RELEASES',
      hint: 'Set MOLAR_RELEASES, or run molar config set releases URL, with the address molar was downloaded from.',
    });
  }
  const wrong = wrongReleases(text);
  if (wrong !== undefined) throw usageFailure(`MOLAR_RELEASES must be ${wrong}.`, { source: 'MOLAR_RELEASES' });
  return text.replace(/\/+$/, '');
}
