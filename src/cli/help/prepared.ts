import { ManifestConfig } from '../startup/manifestconfig.ts';
import { WIDTH } from '../startup/resolution.ts';
import { helpText } from './commandhelp.ts';

/**
 * The help of each command and topic by its id, as it is where there is no terminal: the build keeps it beside the
 * program, which then need not make it. The help on everything is left out, since it names the version of Node: that
 * is also what oclif has to say on `help`.
 */
export async function preparedHelp(root: string): Promise<ReadonlyMap<string, string>> {
  const { commands, topics, userAgent } = new ManifestConfig(root);
  const ids = new Set([...commands, ...topics].map((each) => ('id' in each ? each.id : each.name)));
  const texts = new Map<string, string>();
  for (const id of ids) {
    // oclif changes what it was given, so that each text has a configuration of its own.
    const text = await helpText(id, new ManifestConfig(root), { width: WIDTH, isColoured: false });
    if (!text.includes(userAgent)) texts.set(id, text);
  }
  return texts;
}
