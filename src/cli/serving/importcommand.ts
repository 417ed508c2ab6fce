import { createReadStream } from 'node:fs';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { isOn } from '../flags/values.ts';
import type { CommandInput } from '../molarcommand.ts';
import { type DataFolder, dataFlags, maxTextFlag, maxTextOf, ServerCommand } from './servercommand.ts';

/** `--allow-credentials` of commands that import (contract §8). */
export const credentialsFlag = {
  'allow-credentials': Flags.boolean({
    summary: 'Take tokens and clients from the file into data that has organizations already',
  }),
};

/** `molar server import`: NDJSON into the server's data, all or nothing. */
export abstract class ImportCommand extends ServerCommand {
  static override args = { file: Args.string({ required: true, ignoreStdin: true, description: 'NDJSON file' }) };
  static override flags = {
    ...dataFlags,
    ...maxTextFlag,
    ...credentialsFlag,
    json: Flags.boolean({ summary: 'Print what was imported as one JSON object' }),
  };
  protected override readonly createsFolder = true;

  protected override async work({ service }: DataFolder, { args, flags }: CommandInput): Promise<string> {
    const { importFile, importText } = await import('../../server/import/importer.ts');
    const limits = { ...service, maxText: maxTextOf(flags) };
    const summary = await importFile(limits, createReadStream(String(args.file)), {
      allowCredentials: isOn(flags, 'allow-credentials'),
    });
    return isOn(flags, 'json') ? `${JSON.stringify(summary)}\n` : importText(summary);
  }
}
