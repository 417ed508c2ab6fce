import { createReadStream } from 'node:fs';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { isOn } from '../../cli/flags/values.ts';
import type { CommandInput } from '../../cli/molarcommand.ts';
import { ServerCommand } from '../../cli/serving/servercommand.ts';
import { dataFlags, type ServerPlace } from '../../cli/serving/serverfolder.ts';
import type { OpenFolder } from '../../server/datafolder.ts';

export default class ServerImport extends ServerCommand<OpenFolder> {
  static override summary = "Import records into the server's data, all or nothing";
  static override description =
    'Reads NDJSON, one record a line, in any order. A record with the id of one that exists replaces it. Nothing is imported when a line is wrong or a link leads nowhere; every problem is listed with its line.';
  static override examples = [
    '<%= config.bin %> server import practice.ndjson --data ./practice',
    '<%= config.bin %> server import practice.ndjson --data ./practice --json',
  ];
  static override args = { file: Args.string({ required: true, ignoreStdin: true, description: 'NDJSON file' }) };
  static override flags = {
    ...dataFlags,
    json: Flags.boolean({ summary: 'Print what was imported as one JSON object' }),
  };

  protected override async open(place: ServerPlace): Promise<OpenFolder> {
    return (await import('../../server/datafolder.ts')).openFolder(place.data, { ...place, serving: false });
  }

  protected override async work(folder: OpenFolder, { args, flags }: CommandInput): Promise<string> {
    const { importFile, importText } = await import('../../server/import/importer.ts');
    const summary = await importFile(folder.service, createReadStream(String(args.file)));
    return isOn(flags, 'json') ? `${JSON.stringify(summary)}\n` : importText(summary);
  }
}
