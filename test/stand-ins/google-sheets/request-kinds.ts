/** The requests of a batchUpdate that the stand-in supports; for others it replies 501. */
export const requestKinds: ReadonlySet<string> = new Set([
  'addProtectedRange',
  'addSheet',
  'appendDimension',
  'createDeveloperMetadata',
  'deleteDeveloperMetadata',
  'deleteDimension',
  'deleteProtectedRange',
  'deleteSheet',
  'insertDimension',
  'mergeCells',
  'moveDimension',
  'repeatCell',
  'setBasicFilter',
  'setDataValidation',
  'sortRange',
  'updateCells',
  'updateDeveloperMetadata',
  'updateDimensionProperties',
  'updateSheetProperties',
  'updateSpreadsheetProperties',
  'updateTable',
]);

/**
 * Schemas of what the stand-in does not support. They are checked to be objects only: compiling everything they refer to
 * takes longer than most tests.
 */
export const unreadSchemas: ReadonlySet<string> = new Set([
  'BandedRange',
  'CommentAnchor',
  'CommentThread',
  'ConditionalFormatRule',
  'DataSource',
  'DataSourceFormula',
  'DataSourceRefreshSchedule',
  'DataSourceSheetProperties',
  'DataSourceTable',
  'EmbeddedChart',
  'FilterView',
  'PivotTable',
  'Slicer',
]);
