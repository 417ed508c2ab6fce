import {
  BookmarkResetCommand,
  bookmarkArguments,
  bookmarkResetFlags,
} from '../../../cli/exporting/bookmarkcommands.ts';

export default class ExportBookmarksReset extends BookmarkResetCommand {
  static override summary = 'Remove a bookmark: the next run under its name exports everything';
  static override examples = [
    '<%= config.bin %> export bookmarks reset nightly',
    '<%= config.bin %> export bookmarks reset nightly --resource patients --yes',
  ];
  static override args = bookmarkArguments;
  static override flags = bookmarkResetFlags;
}
