// Volumes that the page has with it, by files in data/, whose README.md says where they are from.
// labels: its samples are names of parts. glass: where a second surface says most. turned: it lies head down.
// caps: the surface is closed where the samples end.

export const GALLERY = [
    {
        id: "head", title: "Head", tint: "--clay", iso: 1150, glass: 520, turned: true, caps: true, file: "data/head_ct.nrrd",
        credit: "CT of a head, from the data of VTK (BSD licence)",
    },
    {
        id: "protein", title: "Protein", tint: "--plum", iso: 22, file: "data/beta_galactosidase.mrc.gz",
        credit: "Beta-galactosidase by cryo-electron microscopy, from EMDB (CC0)",
    },
    {
        id: "brain", title: "Brain atlas", tint: "--data-3", labels: true, file: "data/brain_labels.nii.gz",
        credit: "22 structures of BigBrain (CC BY 4.0)",
    },
    {
        id: "engine", title: "CT engine", tint: "--bone", iso: 80, file: "data/engine_256x256x128_uint8.raw.gz",
        credit: "CT of an engine block, General Electric, by Open SciVis",
    },
];
