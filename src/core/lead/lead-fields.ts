import type { FieldType } from './value.ts';

/** What people call a field in the heading of a column. */
export interface Words {
  /** Nothing else is meant by these. */
  readonly sure: readonly string[];
  /** These may mean something else. */
  readonly unsure: readonly string[];
}

const words = (sure: string, unsure: string): Words => ({
  sure: sure.split(/,\s+/),
  unsure: unsure.split(/,\s+/),
});

/** A field of the API reference (section 2). */
interface LeadField {
  /** The usual heading of its column. */
  readonly column: string;
  readonly type: FieldType;
  /** Its property in HubSpot; absent: `lead_` and its name. */
  readonly hubspot?: string;
  /** In English and German; case, accents, umlauts (ä or ae), blanks and signs do not matter. */
  readonly words: Words;
}

/** All of them but the id, in the order of their columns. */
export const leadFields: Readonly<Record<string, LeadField>> = {
  companyName: {
    column: 'Company',
    type: 'text',
    hubspot: 'name',
    words: words(
      `Company, Company name, Name of company, Organisation, Organization, Organisation name, Organization name,
    Account name, Customer, Customer name, Client, Client name, Firma, Firmenname, Name der Firma, Unternehmen,
    Unternehmensname, Firmenbezeichnung, Kunde, Kundenname, Betrieb`,
      'Name, Account, Lead, Lead name, Business, Prospect, Interessent, Bezeichnung',
    ),
  },
  segment: {
    column: 'Segment',
    type: 'text',
    words: words(
      'Segment, Customer segment, Market segment, Kundensegment, Marktsegment, Kundengruppe',
      'Industry, Sector, Branche, Category, Kategorie, Sparte, Type, Typ, Zielgruppe',
    ),
  },
  city: {
    column: 'City',
    type: 'text',
    hubspot: 'city',
    words: words(
      'City, City name, Town, Stadt, Ort, Ortschaft, Wohnort',
      'Location, Place, Standort, Sitz, Firmensitz, Headquarters, Gemeinde',
    ),
  },
  region: {
    column: 'Region',
    type: 'text',
    hubspot: 'state',
    words: words(
      'Region, Sales region, Bundesland, Vertriebsregion, Federal state, Province',
      'State, Area, Territory, County, Land, Gebiet, Kanton, Vertriebsgebiet, Bezirk',
    ),
  },
  stage: {
    column: 'Stage',
    type: 'text',
    words: words(
      `Stage, Lead stage, Sales stage, Deal stage, Pipeline stage, Lead status, Phase, Vertriebsphase, Verkaufsphase,
    Vertriebsstufe, Verkaufsstufe, Stufe`,
      'Status, State, Pipeline, Stand, Lifecycle stage, Bearbeitungsstand',
    ),
  },
  nextFollowUpAt: {
    column: 'Next follow-up',
    type: 'instant',
    hubspot: 'lead_next_follow_up',
    words: words(
      `Next follow-up, Follow-up, Follow-up date, Next follow-up at, Next follow-up date, Follow-up on, Follow-up at,
    Next call, Next contact, Call back, Callback date, Wiedervorlage, Nächste Wiedervorlage, Wiedervorlage am,
    Datum Wiedervorlage, Wiedervorlagedatum, Nächster Kontakt, Nächster Anruf, Nächste Kontaktaufnahme, Nachfassen,
    Nachfassen am, Nächster Nachfasstermin, Rückruf, Rückruf am`,
      `Reminder, Next step, Next meeting, Next appointment, Next action, Due, Due date, Erinnerung, Termin,
    Nächster Termin, Nächster Schritt, Fällig, Fällig am, Kontakt am`,
    ),
  },
};

/** The column with the Leads service's ids; another "ID" may be a number of the people's own. */
export const idWords: Words = words(
  'Lead ID, ID of lead, Lead UUID, ID des Leads',
  'ID, UUID, Lead number, Lead no, Leadnummer, Lead-Nr, External ID, Externe ID',
);
