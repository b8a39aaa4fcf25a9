export interface NamePool {
  readonly cities: List<readonly [name: string, region: string]>;
  readonly families: List<string>;
  readonly trades: List<string>;
  readonly legalForms: List<string>;
}

type List<T> = readonly [T, ...T[]];

function list(text: string): List<string> {
  return text.trim().split(/,\s+/) as [string, ...string[]];
}

/** The last word of each is the code of its region. */
function places(text: string): NamePool['cities'] {
  const [first, ...others] = list(text);
  const split = (place: string) =>
    [place.slice(0, place.lastIndexOf(' ')), place.slice(place.lastIndexOf(' ') + 1)] as const;
  return [split(first), ...others.map(split)];
}

export const namePools: readonly (readonly [percent: number, pool: NamePool])[] = [
  [
    60,
    {
      cities: places(`
        Berlin BE, Hamburg HH, München BY, Nürnberg BY, Würzburg BY, Köln NW, Düsseldorf NW,
        Münster NW, Frankfurt am Main HE, Stuttgart BW, Tübingen BW, Leipzig SN, Görlitz SN,
        Hannover NI, Göttingen NI, Halle (Saale) ST, Erfurt TH, Saarbrücken SL, Lübeck SH,
        Rostock MV, Wien AT-9, Zürich CH-ZH`),
      families: list(`
        Müller, Schäfer, Köhler, Jäger, Böhm, Weiß, Groß, Krüger, Schröder, Becker, Hoffmann,
        Richter, Lindner, Vogel, Petersen, Brandt, Öztürk, Yılmaz, Nowak, von Arnim`),
      trades: list(`
        Maschinenbau, Präzisionsteile, Gebäudetechnik, Logistik, Bäckerei, Möbelwerk,
        Elektrotechnik, Kälte & Klima, Medizintechnik, Spedition, Holzbau, Softwarehaus,
        Brauerei, Gartenbau, Werkzeuge`),
      legalForms: list('GmbH, GmbH & Co. KG, AG, KG, UG (haftungsbeschränkt), e.K., OHG, SE'),
    },
  ],
  [
    20,
    {
      cities: places(`
        Austin TX, Boston MA, Portland OR, Denver CO, St. Louis MO, Raleigh NC, Toronto ON,
        London ENG, King's Lynn ENG, Edinburgh SCT, Galway G`),
      families: list(`
        O'Brien, D'Angelo, Whitaker, Hawthorne, McAllister, Okafor, Nguyen, Ramirez, St. Clair,
        Pemberton`),
      trades: list(`
        Analytics, Robotics, Freight, Dental Supply, Roofing, Brewing, Biosystems, Data Services,
        Outdoor Gear, Insurance Brokers`),
      legalForms: list('Inc., LLC, Ltd, PLC, Co., Corp.'),
    },
  ],
  [
    20,
    {
      cities: places(`
        Lyon ARA, Saint-Étienne ARA, Bilbao PV, A Coruña GA, Torino TO, Łódź LD, Kraków MA,
        Malmö M, Århus 82, Utrecht UT, 's-Hertogenbosch NB, São Paulo SP, İzmir 35, Brno JM`),
      families: list(`
        Lefèvre, Núñez, Østergaard, Åkesson, Wiśniewski, Dvořák, D'Amico, van der Meer,
        Gonçalves, Çelik`),
      trades: list(`
        Industrie, Transport, Foods, Textil, Solar, Maritime, Design Studio, Automation, Pharma,
        Ceramics`),
      legalForms: list('SARL, S.A., S.r.l., Sp. z o.o., AB, A/S, B.V., Ltda., A.Ş., s.r.o.'),
    },
  ],
];

export const awkwardBrands = list(`
  =mc Labs, +Plus Energie, @home Pflegedienst, -20° Kühlhaus, 0815 Lagerlogistik,
  007 Security, 1e5 Ventures, 10/12 Architekten, TRUE North Coaching, 株式会社 さくら,
  Rock & Röll 🎸 Events`);

export const seededSegments = list(`
  Manufacturing, Software, Healthcare, Logistics, Retail, Energy, Construction,
  Hospitality, Financial services, Public sector`);

export const seededStages = list('new, contacted, qualified, proposal, negotiation, won, lost');
