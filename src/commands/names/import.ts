import { NamesImportCommand, namesImportArguments, namesImportFlags } from '../../cli/names/importcommand.ts';

export default class NamesImport extends NamesImportCommand {
  static override summary = 'Add and replace names from a CSV';
  static override description =
    'Rows of the same kind and id are replaced, others stay. Where the file has no column timezone or order, rows keep theirs, except with --replace. A row with a mistake is refused with its line, and nothing changes.';
  static override examples = [
    '<%= config.bin %> names import names.csv',
    '<%= config.bin %> names list --csv --profile east | <%= config.bin %> names import - --profile west',
  ];
  static override args = namesImportArguments;
  static override flags = namesImportFlags;
}
