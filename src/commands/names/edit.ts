import { NamesEditCommand, namesEditArguments, namesEditFlags } from '../../cli/names/editcommand.ts';

export default class NamesEdit extends NamesEditCommand {
  static override summary = 'Name a location, provider or operatory, or edit all names';
  static override description =
    'Without KIND and ID the file is opened in the editor that VISUAL or EDITOR names, and checked before it counts.';
  static override examples = [
    "<%= config.bin %> names edit location 5 --name 'Main Street' --timezone America/Denver --order 1",
    '<%= config.bin %> names edit',
  ];
  static override args = namesEditArguments;
  static override flags = namesEditFlags;
}
